use std::fs::File;
use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Opens the controlling terminal, whatever stdin is: for reading and for writing.
pub fn open() -> io::Result<(File, File)> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    Ok((terminal.try_clone()?, terminal))
}

/// Whether this process has a controlling terminal.
pub fn exists() -> bool {
    File::open("/dev/tty").is_ok()
}

/// A terminal that does not show what is typed; dropping it restores the terminal.
#[derive(Debug)]
pub struct HiddenInput<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> HiddenInput<'a> {
    /// Stops showing what is typed.
    pub fn start(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Now, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        // There is nobody to tell; the shell resets the terminal too.
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}
