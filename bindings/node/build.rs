//! Tells the linker that Node defines the functions of its API.

fn main() {
    napi_build::setup();
}
