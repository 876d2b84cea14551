//! A folder for each test, with a root, a file outside, and pictures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use photic_tools::{
    InspectArguments, LookupError, Originals, Perception, ReadArguments, Reading, Refusal,
    RefusalCode, Tools, ViewArguments,
};

/// Content that must not appear in any result.
pub(crate) const SECRET: &str = "the secret outside";

/// A root with `inside.txt` and `picture.png`, and a secret beside it.
pub(crate) struct World {
    base: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("photic-tools-{}-{number}", std::process::id());
        let base = std::fs::canonicalize(std::env::temp_dir()).unwrap().join(name);
        let world = Self { base };
        std::fs::create_dir_all(world.root().join("folder/deeper")).unwrap();
        std::fs::create_dir_all(world.outside()).unwrap();
        std::fs::write(world.outside().join("secret.txt"), SECRET).unwrap();
        world.write("inside.txt", "one\ntwo\nthree\n");
        world.write("folder/deep.txt", "deep\n");
        world.write("picture.png", picture(320, 240));
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.base.join("outside")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn tools(&self) -> Tools {
        Tools::builder().root(self.root()).build().unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.base);
    }
}

/// Creates a PNG of this size with visible content.
pub(crate) fn picture(width: u32, height: u32) -> Vec<u8> {
    let pixel = |at: u32| {
        let (x, y) = (at % width, at / width);
        [(x * 255 / width) as u8, (y * 255 / height) as u8, ((x / 16 + y / 16) % 2 * 200) as u8]
    };
    png(width, height, (0..width * height).flat_map(pixel).collect())
}

/// Creates a PNG of these samples, three per pixel.
pub(crate) fn png(width: u32, height: u32, data: Vec<u8>) -> Vec<u8> {
    use photic_pixels::encode::{EncodeOptions, Prefer, encode};
    use photic_pixels::{Layout, Raster};
    let raster = Raster { width, height, layout: Layout::Rgb, data };
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    encode(&raster, &options).unwrap().bytes
}

/// Reads a picture of the repository.
pub(crate) fn captured(name: &str) -> Vec<u8> {
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures/images");
    std::fs::read(images.join(name)).unwrap()
}

/// Runs a future of the tools.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

pub(crate) fn read(tools: &Tools, source: &str) -> Result<Reading, Refusal> {
    wait(tools.read(&ReadArguments::of(source)))
}

pub(crate) fn lines(tools: &Tools, source: &str, lines: &str) -> Result<Reading, Refusal> {
    let lines = Some(lines.parse().unwrap());
    wait(tools.read(&ReadArguments { lines, ..ReadArguments::of(source) }))
}

pub(crate) fn view(tools: &Tools, source: &str) -> Result<Perception, Refusal> {
    wait(tools.view(&looking(source)))
}

pub(crate) fn looking(source: &str) -> ViewArguments {
    ViewArguments { source: source.to_owned(), ..ViewArguments::default() }
}

pub(crate) fn asking(source: &str, question: &str) -> InspectArguments {
    InspectArguments { source: source.to_owned(), question: question.to_owned() }
}

/// Returns the code of a refusal. Fails the test otherwise.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Refusal>) -> RefusalCode {
    result.unwrap_err().code
}

/// A store in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    pub(crate) originals: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) answers: Mutex<BTreeMap<String, String>>,
}

impl MemoryStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }
}

impl Originals for MemoryStore {
    fn put(&self, bytes: &[u8], _: &str) -> std::io::Result<String> {
        let handle = format!("img_{}", &blake3::hash(bytes).to_hex()[..16]);
        self.originals.lock().unwrap().insert(handle.clone(), bytes.to_vec());
        Ok(handle)
    }

    fn get(&self, handle: &str) -> Result<Vec<u8>, LookupError> {
        let found = self.originals.lock().unwrap().get(handle).cloned();
        found.ok_or_else(|| LookupError::Absent("it was dropped".to_owned()))
    }

    fn answer(&self, key: &str) -> Option<String> {
        self.answers.lock().unwrap().get(key).cloned()
    }

    fn keep_answer(&self, key: &str, text: &str) -> std::io::Result<()> {
        self.answers.lock().unwrap().insert(key.to_owned(), text.to_owned());
        Ok(())
    }
}
