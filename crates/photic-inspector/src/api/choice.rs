//! The user's choices for pictures. They take effect on the next turn, like `photic session drop`.

use photic::Choice;
use photic_store::SessionId;
use photic_store::events::RecordChange;
use serde::Deserialize;
use serde_json::Value;

use super::object::Object;
use crate::failure::Failure;
use crate::inspector::Inspector;

/// The body of a choice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoiceRequest {
    choice: Option<Choice>,
}

impl Inspector {
    /// Records a choice, and returns what each choice does then.
    pub(crate) async fn choose(
        &self,
        id: &SessionId,
        number: u32,
        body: &[u8],
    ) -> Result<Value, Failure> {
        let wanted: ChoiceRequest = serde_json::from_slice(body).map_err(|_| {
            Failure::bad_request(
                "`choice` must be \"drop\", \"pin\", {\"shrink\":{\"max_edge\":N}} or null",
            )
        })?;
        if wanted.choice == Some(Choice::Shrink { max_edge: 0 }) {
            return Err(Failure::bad_request("`max_edge` must be at least 1"));
        }
        let digest = self.index(id).await?.picture(number)?.digest;
        self.history.choose(id, &digest, wanted.choice).await?;
        if let Some((events, tenant)) = &self.published {
            let change = RecordChange::Choice { picture: digest, choice: wanted.choice };
            events.publish(tenant, Some(id), change);
        }
        let index = self.index(id).await?;
        let forecast = self.forecast(id, &index, number).await?;
        let result = Object::new().with("picture", number).with("choice", wanted.choice);
        Ok(result.with("forecast", forecast).value())
    }
}
