; Installs Headscope for one user, without an administrator: headscope-VERSION-win64-setup.exe, silently with /S, into
; another folder with /D=FOLDER as the last argument.
Target amd64-unicode
SetCompressor /SOLID lzma
SetCompressorDictSize 64  ; MB, so that the second program costs nothing: it is nearly the same
!include MUI2.nsh
!include FileFunc.nsh

Name "Headscope"
OutFile "${TO}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Headscope"
InstallDirRegKey HKCU "Software\Headscope" "Folder"
ManifestDPIAware true
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Headscope"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installs Headscope"
VIAddVersionKey "LegalCopyright" "The Headscope authors"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\headscope.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Headscope"
!define TYPES "Software\Classes"

; Other programs keep the files of an ending that many use; Headscope is then in their list "Open with".
!macro OpensWith ending
  WriteRegStr HKCU "${TYPES}\${ending}\OpenWithProgids" "Headscope.File" ""
!macroend
!macro OpensNoMore ending
  DeleteRegValue HKCU "${TYPES}\${ending}\OpenWithProgids" "Headscope.File"
!macroend

Section "Headscope"
  SetOutPath "$INSTDIR"
  RMDir /r "$INSTDIR\assets"
  File /r "${FOLDER}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  SetOutPath "$DOCUMENTS"  ; where the program starts to look for files
  CreateShortcut "$SMPROGRAMS\Headscope.lnk" "$INSTDIR\headscope.exe"
  WriteRegStr HKCU "Software\Headscope" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${TYPES}\Headscope.File" "" "Headscope scene, lesson or model"
  WriteRegStr HKCU "${TYPES}\Headscope.File\DefaultIcon" "" "$INSTDIR\headscope.exe,0"
  WriteRegStr HKCU "${TYPES}\Headscope.File\shell\open\command" "" '"$INSTDIR\headscope.exe" "%1"'
  !insertmacro OpensWith ".json"
  !insertmacro OpensWith ".gguf"
  !insertmacro OpensWith ".safetensors"
  ; Links
  WriteRegStr HKCU "${TYPES}\headscope" "" "URL:Headscope"
  WriteRegStr HKCU "${TYPES}\headscope" "URL Protocol" ""
  WriteRegStr HKCU "${TYPES}\headscope\shell\open\command" "" '"$INSTDIR\headscope.exe" "%1"'
  ; headscope typed into Run
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\headscope.exe" "" "$INSTDIR\headscope.exe"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Headscope"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\headscope.exe"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Headscope authors"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
SectionEnd

; Keeps what people have made: scenes, settings and unsaved work are in other folders.
Section "Uninstall"
  Delete "$SMPROGRAMS\Headscope.lnk"
  RMDir /r "$INSTDIR\assets"
  Delete "$INSTDIR\headscope.exe"
  Delete "$INSTDIR\headscope.com"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  !insertmacro OpensNoMore ".json"
  !insertmacro OpensNoMore ".gguf"
  !insertmacro OpensNoMore ".safetensors"
  DeleteRegKey HKCU "${TYPES}\Headscope.File"
  DeleteRegKey HKCU "${TYPES}\headscope"
  DeleteRegKey HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\headscope.exe"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Headscope"
SectionEnd
