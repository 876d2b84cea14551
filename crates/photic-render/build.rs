//! Compresses the built-in fonts: half of their bytes, in a program of which they are a seventh.

use std::io::{Error, Write as _};
use std::path::Path;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "cargo::rerun-if-changed=fonts")?;
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| Error::other("cargo sets OUT_DIR"))?;
    let level = libdeflater::CompressionLvl::new(9).map_err(|_| Error::other("no such level"))?;
    let mut compressor = libdeflater::Compressor::new(level);
    for entry in std::fs::read_dir("fonts")? {
        let path = entry?.path();
        let (Some("ttf"), Some(name)) =
            (path.extension().and_then(|ending| ending.to_str()), path.file_name())
        else {
            continue;
        };
        let font = std::fs::read(&path)?;
        // The length first: the decompressor wants to know it.
        let length = u32::try_from(font.len()).map_err(Error::other)?;
        let mut packed = length.to_le_bytes().to_vec();
        let start = packed.len();
        packed.resize(start + compressor.zlib_compress_bound(font.len()), 0);
        let written =
            compressor.zlib_compress(&font, &mut packed[start..]).map_err(Error::other)?;
        packed.truncate(start + written);
        std::fs::write(Path::new(&out).join(name), packed)?;
    }
    Ok(())
}
