use std::fs::File;
use std::io;
use std::marker::PhantomData;

use winsafe::HSTD;
use winsafe::co::{CONSOLE, STD_HANDLE};

/// Opens the console, whatever stdin is: for reading and for writing.
pub fn open() -> io::Result<(File, File)> {
    let open = |name: &str| File::options().read(true).write(true).open(name);
    Ok((open("CONIN$")?, open("CONOUT$")?))
}

/// Whether this process has a console.
pub fn exists() -> bool {
    File::open("CONIN$").is_ok()
}

/// A console that does not show what is typed; dropping it restores the console.
#[derive(Debug)]
pub struct HiddenInput<'a> {
    before: CONSOLE,
    console: PhantomData<&'a File>,
}

impl<'a> HiddenInput<'a> {
    /// Stops showing what is typed.
    pub fn start(_: &'a File) -> io::Result<Self> {
        let before = with_input(HSTD::GetConsoleMode)?;
        let hidden = CONSOLE::ENABLE_PROCESSED_INPUT | CONSOLE::ENABLE_LINE_INPUT;
        with_input(|input| input.SetConsoleMode(hidden))?;
        Ok(Self { before, console: PhantomData })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        let _ = with_input(|input| input.SetConsoleMode(self.before));
    }
}

fn with_input<T>(use_input: impl FnOnce(&HSTD) -> winsafe::SysResult<T>) -> io::Result<T> {
    let failed = |error: winsafe::co::ERROR| io::Error::from_raw_os_error(error.raw() as i32);
    let mut guard = HSTD::GetStdHandle(STD_HANDLE::INPUT).map_err(failed)?;
    // The handle belongs to the process and must stay open.
    use_input(&guard.leak()).map_err(failed)
}
