# Installs photic for Windows: downloads the archive, compares its checksum, and puts the program into a folder.
#
#   powershell -ExecutionPolicy ByPass -c "irm @REPOSITORY@/releases/download/v@VERSION@/install.ps1 | iex"
#
# PHOTIC_INSTALL_DIR   the folder; %LOCALAPPDATA%\Programs\photic if it is not set
# PHOTIC_DOWNLOAD_URL  where the archives are, for a mirror
#
# Nothing is changed but that folder: not PATH, no other file.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
Set-StrictMode -Version 3.0

& {
    $version = '@VERSION@'
    $base = if ($env:PHOTIC_DOWNLOAD_URL) { $env:PHOTIC_DOWNLOAD_URL } else { "@REPOSITORY@/releases/download/v$version" }
    $folder = if ($env:PHOTIC_INSTALL_DIR) { $env:PHOTIC_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\photic' }
    if (-not [Environment]::Is64BitOperatingSystem) {
        throw 'there is no photic for 32-bit Windows; build from source: cargo install --locked photic-cli'
    }
    # Windows on ARM runs it, too.
    $name = "photic-$version-x86_64-pc-windows-gnu"
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        $sums = Join-Path $work 'SHA256SUMS'
        $archive = Join-Path $work "$name.zip"
        Invoke-WebRequest -UseBasicParsing -Uri "$base/SHA256SUMS" -OutFile $sums
        Invoke-WebRequest -UseBasicParsing -Uri "$base/$name.zip" -OutFile $archive
        $expected = Get-Content $sums | ForEach-Object { , ($_ -split '\s+', 2) } |
            Where-Object { $_[1] -eq "$name.zip" } | ForEach-Object { $_[0] }
        if (-not $expected) { throw "SHA256SUMS names no $name.zip" }
        $found = (Get-FileHash -Algorithm SHA256 -Path $archive).Hash.ToLowerInvariant()
        if ($found -ne $expected) {
            throw "$name.zip has the checksum $found, and SHA256SUMS says $expected; nothing was installed"
        }
        Expand-Archive -Path $archive -DestinationPath $work
        New-Item -ItemType Directory -Force -Path $folder | Out-Null
        Copy-Item -Force (Join-Path $work "$name\photic.exe") (Join-Path $folder 'photic.exe')
        Write-Output "installed $(& (Join-Path $folder 'photic.exe') --version) as $folder\photic.exe"
        if (($env:PATH -split ';') -notcontains $folder) {
            Write-Output "hint: $folder is not in PATH; add it in the settings of Windows, or set PHOTIC_INSTALL_DIR"
        }
    } finally {
        Remove-Item -Recurse -Force $work
    }
}
