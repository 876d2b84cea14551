//! The extension module `photic._native`: bodies in and out, options and reports as JSON.
//!
//! Every call releases the lock of the interpreter while it works.

mod buffer;

use photic_calls::{CallError, Lowered, Options, Pixels, Rejected};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use buffer::Borrowed;

create_exception!(
    photic,
    PhoticError,
    PyValueError,
    "A body, a picture or an option that photic cannot use. `hint` says what to do instead."
);

/// A body and the report about it.
type Written = (Option<Py<PyBytes>>, String);

/// Finds the problems of a request.
#[pyfunction]
fn check(py: Python<'_>, body: &Bound<'_, PyAny>, options: &str) -> PyResult<String> {
    report(py, body, options, photic_calls::check)
}

/// Lists every image of a request with its fate.
#[pyfunction]
fn explain(py: Python<'_>, body: &Bound<'_, PyAny>, options: &str) -> PyResult<String> {
    report(py, body, options, photic_calls::explain)
}

/// Writes a request, a stored conversation or a reply for a wire.
#[pyfunction]
fn lower(py: Python<'_>, body: &Bound<'_, PyAny>, options: &str) -> PyResult<Written> {
    let borrowed = Borrowed::of(body)?;
    let bytes = borrowed.as_slice();
    let done = py.detach(|| photic_calls::lower(bytes, &Options::read(options)?, copied));
    written(py, done)
}

/// Repairs a request, after the rejections that it met.
#[pyfunction]
fn repair(
    py: Python<'_>,
    body: &Bound<'_, PyAny>,
    options: &str,
    rejections: Vec<(u16, String)>,
) -> PyResult<Written> {
    let borrowed = Borrowed::of(body)?;
    let bytes = borrowed.as_slice();
    let rejections: Vec<Rejected> =
        rejections.into_iter().map(|(status, text)| Rejected { status, text }).collect();
    let done =
        py.detach(|| photic_calls::repair(bytes, &Options::read(options)?, &rejections, copied));
    written(py, done)
}

/// A conversation, kept from one turn to the next.
#[pyclass(frozen)]
struct Session(photic_calls::Session);

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let options = Options::read(options).map_err(|error| raised(py, error))?;
        Ok(Self(photic_calls::Session::new(options)))
    }

    /// Repairs a request.
    fn repair(&self, py: Python<'_>, body: &Bound<'_, PyAny>) -> PyResult<Written> {
        let borrowed = Borrowed::of(body)?;
        let bytes = borrowed.as_slice();
        let done = py.detach(|| self.0.repair(bytes, copied));
        written(py, done)
    }

    /// Returns what was done so far, as JSON.
    fn figures(&self, py: Python<'_>) -> PyResult<String> {
        let figures = self.0.figures_json();
        figures.map_err(|error| raised(py, error))
    }
}

/// Makes a view of an image file, or of samples of this width, height and number of channels.
#[pyfunction]
#[pyo3(signature = (source, options, shape=None))]
fn view(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    options: &str,
    shape: Option<(u32, u32, u8)>,
) -> PyResult<(Py<PyBytes>, String)> {
    let borrowed = Borrowed::of(source)?;
    let data = borrowed.as_slice();
    let source = match shape {
        None => Pixels::File(data),
        Some((width, height, channels)) => Pixels::Samples { data, width, height, channels },
    };
    let view = py.detach(|| photic_calls::view(source, options)).map_err(|e| raised(py, e))?;
    Ok((PyBytes::new(py, &view.bytes).unbind(), view.report))
}

/// Returns the profile for a wire, a model and a host.
#[pyfunction]
fn profile(py: Python<'_>, options: &str) -> PyResult<String> {
    let done = Options::read(options).and_then(|options| photic_calls::profile(&options));
    done.map_err(|error| raised(py, error))
}

/// Returns the wire, the model and the host for the path that a request is posted to.
#[pyfunction]
fn route(path: &str, host: &str) -> Option<String> {
    photic_calls::route(path, host)
}

/// Returns `True` if a changed body would break the signature of AWS in these headers.
#[pyfunction]
fn is_body_signed(authorization: &str, payload_hash: Option<&str>) -> bool {
    photic_calls::is_body_signed(authorization, payload_hash)
}

/// Makes a call that only reports.
fn report(
    py: Python<'_>,
    body: &Bound<'_, PyAny>,
    options: &str,
    call: fn(&[u8], &Options) -> Result<String, CallError>,
) -> PyResult<String> {
    let borrowed = Borrowed::of(body)?;
    let bytes = borrowed.as_slice();
    py.detach(|| call(bytes, &Options::read(options)?)).map_err(|error| raised(py, error))
}

/// Copies a body into memory of Python: once, segment by segment.
fn copied(segments: &photic_calls::Segments<'_>) -> PyResult<Py<PyBytes>> {
    Python::attach(|py| {
        let fill = |mut out: &mut [u8]| {
            for segment in segments.iter() {
                let (head, rest) = std::mem::take(&mut out).split_at_mut(segment.len());
                head.copy_from_slice(segment);
                out = rest;
            }
            Ok(())
        };
        PyBytes::new_with(py, segments.len(), fill).map(Bound::unbind)
    })
}

/// Returns the result of a call that writes a body.
fn written(
    py: Python<'_>,
    done: Result<Lowered<PyResult<Py<PyBytes>>>, CallError>,
) -> PyResult<Written> {
    let Lowered { body, report } = done.map_err(|error| raised(py, error))?;
    Ok((body.transpose()?, report))
}

/// Returns the exception for an error.
fn raised(py: Python<'_>, error: CallError) -> PyErr {
    let raised = PhoticError::new_err(error.to_string());
    let value = raised.value(py);
    let set = value.setattr("code", error.code).and_then(|()| value.setattr("hint", error.hint));
    set.err().unwrap_or(raised)
}

/// The extension module.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PhoticError", module.py().get_type::<PhoticError>())?;
    module.add_class::<Session>()?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(is_body_signed, module)?)?;
    module.add_function(wrap_pyfunction!(lower, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(repair, module)?)?;
    module.add_function(wrap_pyfunction!(route, module)?)?;
    module.add_function(wrap_pyfunction!(view, module)?)
}
