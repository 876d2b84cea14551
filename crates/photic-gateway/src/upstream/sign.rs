//! Signs requests for Amazon Bedrock with the credentials of the gateway's process.
//!
//! A client's own signature is valid only for the gateway's address and the unrepaired body. If an
//! upstream has a region, requests without a bearer token are therefore signed again. The
//! credentials are found as in Amazon's SDKs (variables, files, single sign-on, roles), and never
//! leave this module.

use std::fmt::{self, Write as _};

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::{BodyExt as _, Limited};
use photic_net::{Client, Outgoing, Timeouts};
use reqsign_aws_v4::{Credential, DefaultCredentialProvider, RequestSigner};
use reqsign_core::{Context, Env, Error, FileRead, HttpSend, OsEnv};
use sha2::{Digest as _, Sha256};

use crate::http::{Failure, Refusal};

/// Name of the service in signatures.
const SERVICE: &str = "bedrock";
const BODY_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");
/// Headers of a client's own signature.
const SIGNED: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-amz-date"),
    HeaderName::from_static("x-amz-security-token"),
    BODY_HASH,
];
/// Maximum size of a reply from a credential service.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// Beginning of the ids of long-term keys. Others are of one session, and every process that asks for
/// a session may get its own.
const LONG_TERM: &str = "AKIA";

/// Signs requests for one region.
pub(crate) struct Signer {
    library: reqsign_core::Signer<Credential>,
    region: String,
    /// Set if clients with another region or other credentials are refused.
    for_same_client: bool,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Creates a signer that takes credentials from the environment of the process.
    pub(crate) fn new(region: &str) -> Self {
        Self::with(region, OsEnv)
    }

    fn with(region: &str, env: impl Env) -> Self {
        let http = CredentialClient(Client::new(Timeouts::default()));
        let context = Context::new().with_env(env).with_file_read(Files).with_http_send(http);
        let credentials = DefaultCredentialProvider::new();
        let signer = RequestSigner::new(SERVICE, region);
        let library = reqsign_core::Signer::new(context, credentials, signer);
        Self { library, region: region.to_owned(), for_same_client: false }
    }

    /// Refuses clients that sign for another region or with other credentials.
    pub(crate) fn for_same_client(self, for_same_client: bool) -> Self {
        Self { for_same_client, ..self }
    }

    /// Signs a request, unless it carries a bearer token.
    ///
    /// # Errors
    ///
    /// Fails if the process has no credentials, or if they or the region are not those of the
    /// client, if they have to be.
    pub(crate) async fn sign(&self, head: &mut Parts, pieces: &[Bytes]) -> Result<(), Failure> {
        if carries_key(&head.headers) {
            return Ok(());
        }
        let client = scope(&head.headers).filter(|_| self.for_same_client);
        let client = client.map(|(key, region)| (key.to_owned(), region.to_owned()));
        if client.as_ref().is_some_and(|(_, region)| *region != self.region) {
            return Err(Refusal::OtherRegion.into());
        }
        for name in &SIGNED {
            head.headers.remove(name);
        }
        let hash = HeaderValue::from_str(&hash(pieces)).map_err(|_| Failure::Broken)?;
        // Signed headers must arrive unchanged. Only these do for certain.
        let mut signed = Request::new(()).into_parts().0;
        signed.method = head.method.clone();
        signed.uri = escaped_again(&head.uri).ok_or(Failure::BadPath)?;
        signed.headers.insert(BODY_HASH, hash);
        // The library's error may contain credentials, so it is not passed on.
        self.library.sign(&mut signed, None).await.map_err(|_| Failure::NoCredentials)?;
        if let Some(((theirs, _), (ours, _))) = client.as_ref().zip(scope(&signed.headers)) {
            let is_long_term = [theirs, ours].iter().any(|key| key.starts_with(LONG_TERM));
            if is_long_term && theirs != ours {
                return Err(Refusal::OtherCredentials.into());
            }
        }
        head.headers.extend(signed.headers);
        // The HTTP client sets the host that was signed.
        head.headers.remove(http::header::HOST);
        Ok(())
    }
}

fn hash(pieces: &[Bytes]) -> String {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns the id of the key and the region of a signature.
fn scope(headers: &HeaderMap) -> Option<(&str, &str)> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (_, credential) = value.split_once("Credential=")?;
    // The id, the day, the region, the service, and a last word.
    let mut parts = credential.split(',').next()?.trim().split('/');
    Some((parts.next()?, parts.nth(1)?))
}

/// Returns `true` if a request carries a bearer token, and is not signed.
pub(super) fn carries_key(headers: &HeaderMap) -> bool {
    let scheme = headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().get(..7));
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"Bearer "))
}

/// Escapes the path once more. All AWS services but S3 sign paths escaped twice, and the library
/// does it the way of S3.
fn escaped_again(uri: &Uri) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    let path = uri.path().replace('%', "%25");
    let whole = uri.query().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
    parts.path_and_query = Some(whole.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

/// Requests credentials with the gateway's own HTTP client.
#[derive(Debug)]
struct CredentialClient(Client);

impl HttpSend for CredentialClient {
    async fn http_send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Error> {
        let failed = || Error::unexpected("cannot reach the credential service");
        let request = request.map(|body| Outgoing::pieces(vec![body]));
        let reply = self.0.send(request).await.map_err(|_| failed())?;
        let (head, body) = reply.into_parts();
        let body = Limited::new(body, MAX_REPLY_BYTES).collect().await.map_err(|_| failed())?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}

/// Reads credential files.
#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let path = path.to_owned();
        let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
        let read = read.map_err(|_| Error::unexpected("cannot read a credential file"))?;
        read.map_err(|error| Error::unexpected(error.kind().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use reqsign_core::StaticEnv;

    use super::*;

    fn signer(variables: &[(&str, &str)]) -> Signer {
        let envs = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Signer::with("eu-west-1", StaticEnv { home_dir: None, envs: envs.collect() })
    }

    fn head(authorization: Option<&'static str>) -> Parts {
        let address = "https://h/model/a.b-v1%3A0/converse";
        let mut request = Request::post(address).header("x-amz-date", "old");
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[tokio::test]
    async fn requests_are_signed_again() {
        let signer = signer(&[
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_SESSION_TOKEN", "token"),
        ]);
        for own in [None, Some("AWS4-HMAC-SHA256 Credential=other")] {
            let mut head = head(own);
            signer.sign(&mut head, &["{".into(), "}".into()]).await.unwrap();
            let header = |name: &str| head.headers[name].to_str().unwrap();
            let authorization = header("authorization");
            assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
            assert!(authorization.contains("/eu-west-1/bedrock/aws4_request"));
            assert!(authorization.contains(
                "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
            ));
            assert_eq!(header("x-amz-security-token"), "token");
            assert_ne!(header("x-amz-date"), "old");
            assert_eq!(
                header("x-amz-content-sha256"),
                "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
            );
            assert_eq!(head.uri.path(), "/model/a.b-v1%3A0/converse");
            assert!(!format!("{:?}", head.headers).contains("AKID"));
        }
    }

    #[tokio::test]
    async fn a_client_of_another_region_or_with_other_keys_is_refused() {
        let keys = [("AWS_ACCESS_KEY_ID", "AKIAOURS"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        let refused = async |for_same_client, own: &'static str| {
            let signer = signer(&keys).for_same_client(for_same_client);
            let signed = signer.sign(&mut head(Some(own)), &[]).await;
            signed.err().map(|failure| failure.to_string())
        };
        let same = "AWS4-HMAC-SHA256 Credential=AKIAOURS/20261118/eu-west-1/bedrock/aws4_request, \
                    SignedHeaders=host, Signature=x";
        assert_eq!(refused(true, same).await, None);
        let other_region = "AWS4-HMAC-SHA256 Credential=AKIAOURS/20261118/us-west-2/bedrock/x";
        assert!(refused(true, other_region).await.unwrap().contains("`AWS_REGION`"));
        let other_key = "AWS4-HMAC-SHA256 Credential=ASIATHEIRS/20261118/eu-west-1/bedrock/x";
        assert!(refused(true, other_key).await.unwrap().contains("`AWS_PROFILE`"));
        for own in [other_region, other_key] {
            assert_eq!(refused(false, own).await, None);
        }
    }

    #[tokio::test]
    async fn keys_are_passed_on() {
        let mut head = head(Some("bearer k"));
        signer(&[]).sign(&mut head, &[]).await.unwrap();
        assert_eq!(head.headers["authorization"], "bearer k");
    }

    #[test]
    fn paths_are_escaped_twice() {
        let uri: Uri = "https://h/model/a%3A0/converse?x=%20".parse().unwrap();
        assert_eq!(escaped_again(&uri).unwrap(), "https://h/model/a%253A0/converse?x=%20");
    }
}
