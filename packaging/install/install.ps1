# Installs the latest release of slipstitch: downloads the archive for Windows, verifies its checksum, and copies the program.
#
#   irm https://github.com/slipstitch/slipstitch/releases/latest/download/install.ps1 | iex
#
# $env:SLIPSTITCH_PREFIX    where to (default: %LOCALAPPDATA%\Programs\slipstitch)
# $env:SLIPSTITCH_VERSION   which version (default: the one this script came with)
# $env:SLIPSTITCH_URL       where the archives are (default: the release on GitHub)
#
# To uninstall: `slipstitch uninstall`, then delete that folder and take it out of the PATH.
& {
    Set-StrictMode -Version Latest
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'

    function Get-Setting($Name, $Default) {
        $value = [Environment]::GetEnvironmentVariable($Name)
        if ($value) { $value } else { $Default }
    }

    $version = Get-Setting 'SLIPSTITCH_VERSION' '@VERSION@'
    $url = Get-Setting 'SLIPSTITCH_URL' "@HOMEPAGE@/releases/download/v$version"
    $prefix = Get-Setting 'SLIPSTITCH_PREFIX' (Join-Path $env:LOCALAPPDATA 'Programs\slipstitch')
    if ($env:PROCESSOR_ARCHITECTURE -notin 'AMD64', 'ARM64') {
        throw "there is no build for $env:PROCESSOR_ARCHITECTURE"
    }
    # Windows on ARM runs this build, too.
    $name = "slipstitch-$version-x86_64-pc-windows-gnu"
    $archive = "$name.zip"

    $folder = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory $folder | Out-Null
    try {
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        foreach ($file in $archive, 'SHA256SUMS') {
            Invoke-WebRequest -UseBasicParsing "$url/$file" -OutFile (Join-Path $folder $file)
        }
        $line = Get-Content (Join-Path $folder 'SHA256SUMS') | Where-Object { ($_ -split '\s+\*?')[1] -eq $archive }
        if (-not $line) { throw "SHA256SUMS has no line for $archive" }
        $expected = (@($line)[0] -split '\s+')[0]
        $actual = (Get-FileHash -Algorithm SHA256 (Join-Path $folder $archive)).Hash
        if ($actual -ne $expected) {
            throw "the checksum of $archive is $actual, not $expected; nothing was installed"
        }
        Expand-Archive (Join-Path $folder $archive) $folder
        $program = Join-Path $folder "$name\slipstitch.exe"
        & $program --version | Out-Null
        if ($LASTEXITCODE -ne 0) { throw 'the program does not run here; nothing was installed' }

        New-Item -ItemType Directory -Force $prefix | Out-Null
        $installed = Join-Path $prefix 'slipstitch.exe'
        if (Test-Path $installed) {
            # A running program can be renamed, not replaced.
            $old = Join-Path $prefix ("slipstitch.{0}.old" -f [Guid]::NewGuid().ToString('N'))
            Move-Item $installed $old
            Get-ChildItem $prefix -Filter 'slipstitch.*.old' | Remove-Item -ErrorAction SilentlyContinue
        }
        Copy-Item $program $installed
    } finally {
        Remove-Item -Recurse -Force $folder
    }
    Write-Output "installed slipstitch $version in $prefix"

    # Through the registry, so that variables in the other entries stay as they are.
    $path = (Get-Item 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames')
    if (($path -split ';') -notcontains $prefix) {
        $longer = if ($path) { $path.TrimEnd(';') + ';' + $prefix } else { $prefix }
        Set-ItemProperty 'HKCU:\Environment' Path $longer -Type ExpandString
        # Tells running programs that the environment changed.
        [Environment]::SetEnvironmentVariable('SLIPSTITCH_INSTALLING', '1', 'User')
        [Environment]::SetEnvironmentVariable('SLIPSTITCH_INSTALLING', $null, 'User')
        Write-Output 'added it to your PATH; open a new terminal'
    }
    Write-Output 'Next: slipstitch mcp install'
}
