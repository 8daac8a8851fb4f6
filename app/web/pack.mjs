// Packs the program, its files and the page into one HTML file. With threads, the program's scripts stay next
// to it.
//   node pack.mjs [--threads yes] --page page.html --program FOLDER/headscope --output FILE.html [--files FOLDER=/PATH] [--file FILE=/PATH]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// Assets that the program doesn't read.
const kLeftOut = new Set(['__pycache__', 'screenshots', 'icon', 'trainer', 'train.py', 'python', 'notebooks', 'catalogue']);

const options = { files: [], file: [] };
for (let i = 2; i < process.argv.length; i += 2) {
  const name = process.argv[i].slice(2);
  if (name in { files: 0, file: 0 }) options[name].push(process.argv[i + 1].split('='));
  else options[name] = process.argv[i + 1];
}

function filesBelow(folder, path) {
  return readdirSync(folder).sort().filter(name => !kLeftOut.has(name)).flatMap(name => {
    const file = join(folder, name);
    return statSync(file).isDirectory() ? filesBelow(file, path + '/' + name) : [[file, path + '/' + name]];
  });
}

// Puts all first bytes of four-byte numbers first, then all second bytes, and so on: similar bytes compress
// better.
const inPlanes = bytes => Buffer.concat([0, 1, 2, 3].map(plane => bytes.filter((_, i) => i % 4 === plane)));
// Format: size of the index (32 bits, little-endian), the index as JSON, then the files' bytes in order.
function archive(files) {
  const parts = files.map(([file]) => (file.endsWith('.safetensors') ? inPlanes(readFileSync(file)) : readFileSync(file)));
  let at = 0;
  const index = files.map(([, path], i) => ({ path, at: (at += parts[i].length) - parts[i].length, size: parts[i].length }));
  const text = Buffer.from(JSON.stringify(index)), size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  return Buffer.concat([size, text, ...parts]);
}

// Uses a slow encoder whose output is 5 % smaller than zlib's.
function packed(bytes) {
  const file = options.output + '.part';
  writeFileSync(file, bytes);
  const deflated = execFileSync('zopfli', ['-c', '--deflate', '--i5', file], { maxBuffer: 2 ** 28 });
  rmSync(file);
  return deflated.toString('base64');
}
const page = readFileSync(options.page, 'utf8');
const program = readFileSync(options.program + '.js', 'utf8');
const own = readFileSync(join(dirname(options.page), 'page.js'), 'utf8');
const script = `${program}\n${own}`.replaceAll('</script', '<\\/script');
const files = [...options.files.flatMap(([folder, path]) => filesBelow(folder, path)), ...options.file];
const parts = {
  HASH: `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  PROGRAM: packed(readFileSync(options.program + '.wasm')),
  FILES: packed(archive(files)),
  SCRIPT: script,
  THREADS: options.threads ?? 'no',
  WORKERS: options.threads === 'yes' ? " worker-src 'self';" : '',
};
if (options.threads === 'yes')
  for (const ending of ['.js', '.worker.js'])
    copyFileSync(options.program + ending, join(dirname(options.output), basename(options.program) + ending));
writeFileSync(options.output, page.replace(/{{([A-Z]+)}}/g, (_, name) => parts[name]));
