{
  description = "Edits files in the right place or not at all, and can undo every edit";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package;
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "slipstitch";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          cargoBuildFlags = [ "-p" "slipstitch-cli" ];
          # The tests mount file systems, start editors and need a terminal; `scripts/test` runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/slipstitch man --dir man
            installManPage man/*.1
            installShellCompletion --cmd slipstitch \
              --bash <($out/bin/slipstitch completions bash) \
              --zsh <($out/bin/slipstitch completions zsh) \
              --fish <($out/bin/slipstitch completions fish)
          '';
          meta = {
            description = "Edits files in the right place or not at all, and can undo every edit";
            homepage = manifest.repository;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "slipstitch";
          };
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo clippy rustc rustfmt ]; };
      });
    };
}
