//! Bodies from Python, borrowed without a copy. The only file of this crate with `unsafe`.

#![expect(unsafe_code, reason = "Python lends its memory as a pointer and a length")]

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes that Python lends for the time of a call.
pub(crate) enum Borrowed<'b, 'py> {
    /// A `bytes` object, which never changes.
    Bytes(&'b Bound<'py, PyBytes>),
    /// The exported buffer of another object. While it is held, the object cannot be resized.
    Buffer(PyBuffer<u8>),
}

impl<'b, 'py> Borrowed<'b, 'py> {
    /// Borrows the memory of an object.
    pub(crate) fn of(object: &'b Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes));
        }
        let Ok(buffer) = PyBuffer::<u8>::get(object) else {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "cannot read `{kind}`: pass bytes, bytearray or memoryview; encode a str with \
                 `.encode()`, and a dict with `json.dumps(body).encode()`"
            )));
        };
        if !buffer.is_c_contiguous() {
            return Err(PyTypeError::new_err("the buffer has gaps: pass `bytes(view)` instead"));
        }
        Ok(Self::Buffer(buffer))
    }

    /// Returns the bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Buffer(buffer) if buffer.len_bytes() == 0 => &[],
            Self::Buffer(buffer) => {
                // SAFETY: the buffer was exported to us as contiguous bytes, and Python keeps the
                // memory in place until it is released, which `PyBuffer` does when it is dropped;
                // the slice cannot outlive `self`. The pointer is not null, because the length is
                // not zero. The contents must not change during the call. That is the contract of
                // the functions of this module, as it is of `socket.send` or `zlib.crc32`, which
                // release the lock over a lent buffer too.
                unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) }
            }
        }
    }
}
