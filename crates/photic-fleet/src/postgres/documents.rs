//! Small documents shared by the replicas, such as the lessons about endpoints. A writer states the
//! version it has read, so that no change is lost.

use photic_store::Error;

use super::{Answer, Postgres};

/// A document with its version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Counts its changes; 0 if it does not exist.
    pub version: u64,
    /// The text.
    pub text: String,
}

/// A storage of shared documents.
pub trait Documents: Send + Sync {
    /// Returns a document by name; empty if it does not exist.
    fn document(&self, name: &str) -> impl Future<Output = Result<Document, Error>> + Send;

    /// Replaces a document if it is unchanged since it was read. Returns whether it was.
    fn replace_document(
        &self,
        name: &str,
        read: &Document,
        text: &str,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Changes a document: reads and replaces it, and repeats this while others are faster.
    fn change_document(
        &self,
        name: &str,
        change: impl Fn(&str) -> String + Send + Sync,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        async move {
            loop {
                let read = self.document(name).await?;
                let text = change(&read.text);
                if text == read.text || self.replace_document(name, &read, &text).await? {
                    return Ok(());
                }
            }
        }
    }
}

impl Documents for Postgres {
    async fn document(&self, name: &str) -> Result<Document, Error> {
        let found: Option<(i64, String)> =
            sqlx::query_as("SELECT version, text FROM document WHERE name = $1")
                .bind(name)
                .fetch_optional(&mut *self.connection().await?)
                .answer()
                .await?;
        let found = found.map(|(version, text)| Document { version: version as u64, text });
        Ok(found.unwrap_or_default())
    }

    async fn replace_document(
        &self,
        name: &str,
        read: &Document,
        text: &str,
    ) -> Result<bool, Error> {
        let statement = if read.version == 0 {
            "INSERT INTO document (name, version, text) VALUES ($1, $2 + 1, $3)
             ON CONFLICT DO NOTHING"
        } else {
            "UPDATE document SET version = $2 + 1, text = $3 WHERE name = $1 AND version = $2"
        };
        let done = sqlx::query(statement)
            .bind(name)
            .bind(read.version.cast_signed())
            .bind(text)
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(done.rows_affected() == 1)
    }
}
