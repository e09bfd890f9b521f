//! The least work that any program must do for a task, as a baseline for `scripts/bench`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hello"] => println!("Hello, world!"),
        ["copy", file] => copy(Path::new(file))?,
        ["scan", file, needle, rounds] => scan(Path::new(file), needle, rounds.parse()?)?,
        _ => return Err("usage: yardstick hello | copy FILE | scan FILE TEXT ROUNDS".into()),
    }
    Ok(())
}

/// Replaces a file by a copy of itself, on disk before its name changes.
fn copy(file: &Path) -> io::Result<()> {
    let temp = file.with_extension("copy");
    let mut to = File::create(&temp)?;
    io::copy(&mut File::open(file)?, &mut to)?;
    to.sync_all()?;
    std::fs::rename(temp, file)
}

/// Prints how many seconds it takes to read a file and to search it for a text, the best of several rounds.
fn scan(file: &Path, needle: &str, rounds: usize) -> io::Result<()> {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        let text = std::fs::read(file)?;
        black_box(memchr::memmem::find(black_box(&text), needle.as_bytes()));
        Ok(start.elapsed().as_secs_f64())
    });
    let times = times.collect::<io::Result<Vec<_>>>()?;
    println!("{}", times.into_iter().fold(f64::INFINITY, f64::min));
    Ok(())
}
