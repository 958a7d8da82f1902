//! Interceptors of AWS clients, made of functions.

use aws_sdk_sqs::config::interceptors::{
    BeforeSerializationInterceptorContextMut as Before, BeforeTransmitInterceptorContextRef as Sending,
};
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sqs::error::BoxError;

type BeforeSend = dyn Fn(&Sending<'_>) -> Result<(), BoxError> + Send + Sync;

struct Hook {
    of_input: Box<dyn Fn(&mut Before<'_>) + Send + Sync>,
    before_send: Box<BeforeSend>,
}

/// Called with the input of each operation, which it may change.
pub(crate) fn of_input(of_input: impl Fn(&mut Before<'_>) + Send + Sync + 'static) -> impl Intercept + 'static {
    Hook { of_input: Box::new(of_input), before_send: Box::new(|_| Ok(())) }
}

/// Called with each request just before it is sent. If it fails, so does the request.
pub(crate) fn before_send(
    before_send: impl Fn(&Sending<'_>) -> Result<(), BoxError> + Send + Sync + 'static,
) -> impl Intercept + 'static {
    Hook { of_input: Box::new(|_| {}), before_send: Box::new(before_send) }
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

impl Intercept for Hook {
    fn name(&self) -> &'static str {
        "Hook"
    }

    fn modify_before_serialization(
        &self,
        context: &mut Before<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        (self.of_input)(context);
        Ok(())
    }

    fn read_before_transmit(
        &self,
        context: &Sending<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        (self.before_send)(context)
    }
}
