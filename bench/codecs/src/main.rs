//! JPEG codecs against libjpeg-turbo in C: CPU time, pixels and file sizes, in turns, in one run.
//!
//! `cargo run --release --manifest-path bench/codecs/Cargo.toml -- PHOTO.jpg [ROUNDS]`; the figures
//! of docs/views.md are from `photo12.jpg` of bench/generate.py. Needs cmake and nasm.
//!
//! Times are user and system time in milliseconds, medians, of all processes that work. `child` is
//! libjpeg-turbo in a process that stays and is spoken to over pipes.

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};
use std::process::{Child, Command, Stdio};

use rustix::time::{ClockId, clock_gettime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Job<'a> = (&'a str, Box<dyn FnMut() -> Result<(Vec<u8>, f64)> + 'a>);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [word] if word == "serve" => serve(),
        [photo] => compare(photo, 9),
        [photo, rounds] => compare(photo, rounds.parse()?),
        _ => Err("usage: PHOTO.jpg [ROUNDS]".into()),
    }
}

fn compare(photo: &str, rounds: usize) -> Result<()> {
    let file = std::fs::read(photo)?;
    let file = file.as_slice();
    let whole = turbo(file, 8)?.2;
    let (width, height, half) = turbo(file, 4)?;
    let small = half.as_slice();
    let size = (width, height);
    let mut child = Command::new(std::env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let free = |pixels: Result<Vec<u8>>| Ok((pixels?, 0.0));
    let mut jobs: Vec<Job<'_>> = vec![
        ("whole: libjpeg-turbo, C", Box::new(|| free(turbo(file, 8).map(|made| made.2)))),
        ("whole: libjpeg-turbo-rs", Box::new(|| free(ported(file, 8)))),
        ("whole: zune-jpeg", Box::new(|| free(zune(file)))),
        ("whole: jpeg-decoder", Box::new(|| free(plain(file, 1)))),
        ("half: libjpeg-turbo, C", Box::new(|| free(turbo(file, 4).map(|made| made.2)))),
        ("half: libjpeg-turbo, C, child", Box::new(move || ask(&mut child, file))),
        ("half: libjpeg-turbo-rs", Box::new(|| free(ported(file, 4)))),
        ("half: jpeg-decoder", Box::new(|| free(plain(file, 2)))),
        ("write: libjpeg-turbo, C", Box::new(|| free(turbo_write(small, size)))),
        ("write: libjpeg-turbo-rs", Box::new(|| free(ported_write(small, size)))),
        ("write: jpeg-encoder", Box::new(|| free(plain_write(small, size)))),
    ];
    let mut times = vec![Vec::new(); jobs.len()];
    let mut outputs = vec![Vec::new(); jobs.len()];
    for _ in 0..rounds {
        for (at, (_, job)) in jobs.iter_mut().enumerate() {
            let begin = cpu_ms();
            let (made, elsewhere) = job()?;
            times[at].push(cpu_ms() - begin + elsewhere);
            outputs[at] = made;
        }
    }
    println!("| codec | CPU ms | bytes out | PSNR |\n|---|---|---|---|");
    for (at, (name, _)) in jobs.iter().enumerate() {
        times[at].sort_by(f64::total_cmp);
        let likeness = match name.split(':').next() {
            Some("whole") => psnr(&outputs[at], &whole),
            Some("half") => psnr(&outputs[at], small),
            _ => psnr(&turbo(&outputs[at], 8)?.2, small),
        };
        let likeness =
            if likeness.is_infinite() { "same".into() } else { format!("{likeness:.1}") };
        println!("| {name} | {:.1} | {} | {likeness} |", times[at][rounds / 2], outputs[at].len());
    }
    Ok(())
}

fn turbo(file: &[u8], eighths: usize) -> Result<(usize, usize, Vec<u8>)> {
    use turbojpeg::{Decompressor, Image, PixelFormat, ScalingFactor};
    let mut decoder = Decompressor::new()?;
    let factor = ScalingFactor::new(eighths, 8);
    let size = decoder.read_header(file)?.scaled(factor);
    decoder.set_scaling_factor(factor)?;
    let mut pixels = vec![0; size.width * size.height * 3];
    decoder.decompress(
        file,
        Image {
            pixels: pixels.as_mut_slice(),
            width: size.width,
            pitch: size.width * 3,
            height: size.height,
            format: PixelFormat::RGB,
        },
    )?;
    Ok((size.width, size.height, pixels))
}

fn ported(file: &[u8], eighths: u32) -> Result<Vec<u8>> {
    use libjpeg_turbo_rs::{Decoder, PixelFormat, ScalingFactor};
    let factor = ScalingFactor::try_new(eighths / 4, 2).or(ScalingFactor::try_new(1, 1))?;
    let decoder = Decoder::new(file)?.with_output_format(PixelFormat::Rgb).with_scale(factor);
    Ok(decoder.decode_image()?.into_vec())
}

fn zune(file: &[u8]) -> Result<Vec<u8>> {
    use zune_jpeg::zune_core::bytestream::ZCursor;
    Ok(zune_jpeg::JpegDecoder::new(ZCursor::new(file)).decode()?)
}

fn plain(file: &[u8], part: u16) -> Result<Vec<u8>> {
    let mut decoder = jpeg_decoder::Decoder::new(file);
    decoder.read_info()?;
    let info = decoder.info().ok_or("no header")?;
    decoder.scale(info.width / part, info.height / part)?;
    Ok(decoder.decode()?)
}

fn turbo_write(pixels: &[u8], (width, height): (usize, usize)) -> Result<Vec<u8>> {
    use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};
    let mut encoder = Compressor::new()?;
    encoder.set_quality(75)?;
    encoder.set_subsamp(Subsamp::Sub2x2)?;
    let (pitch, format) = (width * 3, PixelFormat::RGB);
    Ok(encoder.compress_to_vec(Image { pixels, width, pitch, height, format })?)
}

fn ported_write(pixels: &[u8], (width, height): (usize, usize)) -> Result<Vec<u8>> {
    use libjpeg_turbo_rs::{PixelFormat, Subsampling, compress};
    Ok(compress(pixels, width, height, PixelFormat::Rgb, 75, Subsampling::S420)?)
}

fn plain_write(pixels: &[u8], (width, height): (usize, usize)) -> Result<Vec<u8>> {
    use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, 75);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.encode(pixels, width.try_into()?, height.try_into()?, ColorType::Rgb)?;
    Ok(out)
}

/// The pixels from the child, and the time that it took there.
fn ask(child: &mut Child, file: &[u8]) -> Result<(Vec<u8>, f64)> {
    let (Some(to), Some(from)) = (&mut child.stdin, &mut child.stdout) else {
        return Err("no pipes".into());
    };
    to.write_all(&(file.len() as u64).to_le_bytes())?;
    to.write_all(file)?;
    to.flush()?;
    let mut pixels = vec![0; length(from)?];
    from.read_exact(&mut pixels)?;
    let mut took = [0; 8];
    from.read_exact(&mut took)?;
    Ok((pixels, f64::from_le_bytes(took)))
}

/// The child: files in, pixels at half their size and the time it took out.
fn serve() -> Result<()> {
    let (mut from, mut to) = (stdin().lock(), stdout().lock());
    while let Ok(length) = length(&mut from) {
        let begin = cpu_ms();
        let mut file = vec![0; length];
        from.read_exact(&mut file)?;
        let (_, _, pixels) = turbo(&file, 4)?;
        to.write_all(&(pixels.len() as u64).to_le_bytes())?;
        to.write_all(&pixels)?;
        to.write_all(&(cpu_ms() - begin).to_le_bytes())?;
        to.flush()?;
    }
    Ok(())
}

fn length(from: &mut impl Read) -> Result<usize> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    Ok(u64::from_le_bytes(length).try_into()?)
}

fn psnr(a: &[u8], b: &[u8]) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
    let error = a.iter().zip(b).map(square).sum::<f64>() / a.len() as f64;
    10.0 * (255.0_f64.powi(2) / error).log10()
}

/// User and system time of this process.
fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}
