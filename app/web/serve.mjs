// node serve.mjs FOLDER PORT: serves the page in FOLDER to this machine only, isolated from other origins,
// which browsers require for threads with shared memory. PORT 0 chooses a free port.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

const kFiles = {
  '/': ['headscope.html', 'text/html; charset=utf-8'],
  '/headscope.html': ['headscope.html', 'text/html; charset=utf-8'],
  '/headscope.js': ['headscope.js', 'text/javascript'],
  '/headscope.worker.js': ['headscope.worker.js', 'text/javascript'],
};
const [folder, port] = process.argv.slice(2);
const server = createServer(async (request, response) => {
  const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp', 'Cross-Origin-Resource-Policy': 'same-origin' };
  const [name, type] = kFiles[new URL(request.url, 'http://localhost').pathname] ?? [];
  const bytes = name && (await readFile(join(folder, name)).catch(() => null));
  response.writeHead(bytes ? 200 : 404, { ...headers, 'Content-Type': bytes ? type : 'text/plain' });
  response.end(bytes || 'There is no such file.\n');
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
