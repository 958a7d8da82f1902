use lambda_http::Request;

use crate::prelude::*;

/// A function that answers requests, called directly.
pub(crate) trait Handler: Sync {
    fn respond(&self, request: Request) -> impl Future<Output = Response<Body>> + Send;

    fn answer(&self, ask: &Ask) -> impl Future<Output = Answer> + Send {
        async move { Answer::of_handler(ask, self.respond(ask.request()).await) }
    }
}

macro_rules! handlers {
    ($($function:ident: $deps:ident),*) => {
        $(impl Handler for $function::$deps {
            async fn respond(&self, request: Request) -> Response<Body> {
                Box::pin($function::handle(self, request)).await
            }
        })*
    };
}
handlers!(
    admin: AdminDeps,
    admission: AdmissionDeps,
    catalog: CatalogDeps,
    payment: PaymentDeps,
    reservation: ReservationDeps,
    waiting_room: WaitingRoomDeps
);
