//! Media out of a session and back again.

use photic_doctor::{DiagnosisTarget, SessionFormat, diagnose, externalize, restore};
use photic_store::FileBlobs;
use photic_testkit::image;

use crate::sessions::{Folder, Step, write};

#[test]
fn what_is_taken_apart_comes_back_byte_for_byte() {
    for format in [
        SessionFormat::ClaudeCode,
        SessionFormat::Codex,
        SessionFormat::Pi,
        SessionFormat::GeminiCli,
        SessionFormat::QwenCode,
    ] {
        let folder = Folder::new();
        let noise = image::png_noise(64, 64, 5);
        let steps = [
            Step::Returns(vec![("image/png", noise.clone())]),
            Step::Shows(vec![
                ("image/png", noise.clone()),
                ("image/png", image::png_noise(64, 64, 6)),
            ]),
        ];
        let path = write(format, &steps, "claude-sonnet-4-5", &folder.0);
        let blobs = FileBlobs::open(folder.0.join("blobs")).unwrap();
        let small = folder.0.join("small");
        let moved = externalize(&path, &small, &blobs).unwrap();
        assert!(moved.media >= 3, "{}: {moved:?}", format.name());
        assert!(moved.after * 3 < moved.before, "{moved:?}");
        assert_eq!(blobs.list(None).unwrap().len(), 2, "every picture is kept once");
        let back = folder.0.join("back");
        assert_eq!(restore(&small, &back, &blobs).unwrap().media, moved.media);
        assert_eq!(std::fs::read(&back).unwrap(), std::fs::read(&path).unwrap());
    }
}

#[test]
fn a_session_says_how_much_of_it_is_there_twice() {
    let folder = Folder::new();
    let noise = image::png_noise(64, 64, 5);
    let steps = [Step::Returns(vec![("image/png", noise.clone())])];
    let path = write(SessionFormat::ClaudeCode, &steps, "claude-sonnet-4-5", &folder.0);
    let found = diagnose(&path, &DiagnosisTarget::default(), &mut |_| {}).unwrap();
    let sent: Vec<bool> = found.media.iter().map(|medium| medium.is_sent).collect();
    assert_eq!(sent, [true, false]);
    assert_eq!(found.media_bytes(), 2 * found.repeated_bytes());
    assert!(found.tokens() > 0 && found.bytes > found.media_bytes());
}
