// Made from openapi.yaml by `make docs`.

export interface paths {
    "/v1/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List campaigns, the first to open first */
        get: operations["listCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sales and campaigns of the front page
         * @description Every published sale, in a campaign or not, and the campaigns. At most 100 sales: first the open ones, the next to close first; then upcoming ones, the next to open first; then those that ended within the last day.
         */
        get: operations["listPublishedSales"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a campaign and its sales */
        get: operations["lookAtCampaign"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a published sale */
        get: operations["lookAtSaleOnOffer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/rounds/{round}/draw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get everything needed to verify a round's draw
         * @description What each unit won follows from `allocation`, `units` and `seed` (docs/draws.md). `commitment` is public as soon as
         *     the sale is published. `seed` is public one minute after the round closes; anybody can then check that it is the seed
         *     that was committed to.
         *     For a draw at the end, `at_end` has the number of entries and their Merkle root once the entries have closed. The
         *     winners follow from seed and entries, and each gets the prize in the minutes after that.
         *     If `label` is `beacon`, the randomness of a round of drand is mixed with the seed. `drand` names that round in
         *     advance: when the sale is published or, for a draw at the end, together with the root of its entries. `beacon` is
         *     drand's signature, once posted.
         */
        get: operations["lookAtDraw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/rounds/{round}/draw/entries/{chunk}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a chunk of the entries of a draw at the end
         * @description The entries in the order of their numbers, 4,096 in a chunk, once they have closed. The `root` of the draw is the root
         *     of the Merkle tree over all `leaves` (docs/draws.md). Only someone who knows a reservation's id can tell which leaf is
         *     theirs.
         */
        get: operations["listEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get in line
         * @description For a sale with a line, from `tickets_from` until the sale closes. A place belongs to the user, not to the request:
         *     the same user gets the same place again, from any device. Before the opening it makes no difference when somebody
         *     asks. `docs/line.md` says how a place follows from a ticket.
         */
        post: operations["getTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/line": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how far the line of a sale has moved
         * @description The same for everybody. A client computes its own place from `seed` and its user's id. The user is admitted once the
         *     numbers in `admitted` have passed that place. `docs/line.md` says how.
         */
        get: operations["lookAtLine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/challenges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for a challenge */
        post: operations["askForChallenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a challenge
         * @description Once the sale is open, a right answer gets the token that a reservation needs. The same right answer, sent again
         *     within ten seconds, gets the same token. Only a wrong answer to an existing challenge counts against the user, and
         *     only once however often it is sent. A sale without challenges (`gate.challenge` is `none`) gives the token for an
         *     empty body, or for the id of a challenge of the kind `none`; with the id, a repeated request gets the same token.
         */
        post: operations["answerChallenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/reservation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's reservations in a sale
         * @description The caller's own reservations in the sale's latest round, newest first, including queued ones. It helps after a lost
         *     tab or answer, since it needs no reservation id.
         */
        get: operations["lookAtSaleReservations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sales/{sale_id}/reservations/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reserve a unit */
        post: operations["reserve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reservations/{reservation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one of the caller's reservations
         * @description After a failover of Redis, a reservation may be unknown (404) until its order is written: ask again for a minute if you
         *     have its id from a 202.
         */
        get: operations["lookAtReservation"];
        put?: never;
        post?: never;
        /**
         * Cancel a reservation
         * @description Cancelling twice gets the same answer.
         */
        delete: operations["cancelReservation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/sales": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sales that the caller sees as a member
         * @description The sales whose `gate.groups_see` names one of the caller's groups, by the token's claim or by a list. A change of a
         *     list takes effect within half a minute. Sales that everybody sees are not included.
         */
        get: operations["listMembersSales"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/sales/{sale_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a published sale as a member
         * @description The card of a sale that the caller may see, or of one that everybody sees. For anybody else the sale does not exist.
         */
        get: operations["lookAtMembersSale"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's orders, newest first */
        get: operations["listOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a payment
         * @description Signed with HMAC-SHA256 as Standard Webhooks (https://www.standardwebhooks.com) specifies. It may be sent more than once.
         */
        post: operations["tellOfPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List campaigns as operators see them */
        get: operations["listCampaignsToChange"];
        put?: never;
        /**
         * Create or replace a campaign
         * @description The body replaces the whole campaign. Without `version` it creates one; with `version` it changes that version. Each
         *     of its sales must exist, at least as a draft.
         */
        post: operations["putCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sales by state
         * @description Without parameters: every published sale that is not over. With a state, a page of the sales in it: `ended` ones by
         *     their end, newest first; the others by their end, the next to close first. A page may be short or empty and still have
         *     a `next_cursor`. The list may lag a moment behind, and a sale whose end is moved while you page may be missed or
         *     appear twice. Drafts written by versions before this one appear once they are changed.
         */
        get: operations["listSales"];
        put?: never;
        /** Create a sale as a draft */
        post: operations["createSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a sale */
        get: operations["lookAtSale"];
        put?: never;
        post?: never;
        /**
         * Delete a draft
         * @description A published sale cannot be deleted: withdraw it or close its round. A repeated request gets 404, because the draft is
         *     gone. Its id is then free.
         */
        delete: operations["deleteSale"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change a draft, future rounds or the latest round
         * @description The body has the changed fields and the version that they were based on. With `version`, the sale's, it changes a
         *     draft or, for a published recurring sale, the terms of future rounds, which are shown as `rounds_to_come` if they
         *     differ from the latest round's. With `round` and `round_version` it changes that round.
         *     If somebody has changed it since, the answer is 409 `sale_changed` with the current version, and nothing is written.
         *     What can still change in a round depends on how far it is; each field says so. A field that cannot change gets 409
         *     `not_amendable` with its name and the reason. Invalid terms get 400. Redis gets the change at once, or from
         *     reconciliation within a minute.
         */
        post: operations["editSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw a published sale before it opens
         * @description This is permanent: the sale is in no public list, nobody can publish, edit or operate it, and its id is not free
         *     again. It is only possible before the first round opens for anybody. A round that is already loaded is paused in Redis
         *     first. If a unit has been handed out by then, the round goes on selling and the answer is 409. If Redis does not
         *     answer, the answer is 503 and the round stays paused: send the request again.
         */
        post: operations["withdrawSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy a sale to a new draft
         * @description The draft has the sale's terms and recurrence. A published sale that does not recur is copied with the terms it was
         *     published with, but with the current title and gate of its round. With `opens_at` alone, the draft lasts as long as
         *     the original. Without both times it has the same window, which must not be over.
         */
        post: operations["duplicateSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get live figures of the running round
         * @description Can be polled every second. If a part of the system does not answer, its figures are null.
         */
        get: operations["watchSale"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a sale
         * @description Redis gets the round within a minute, at the earliest ten minutes before it opens. Publishing cannot be undone, only
         *     withdrawn, and a withdrawn sale cannot be published again.
         */
        post: operations["publishSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a round
         * @description The body names the round. If another one is running, nothing is changed.
         */
        post: operations["pauseSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a round
         * @description A round that is over cannot be resumed.
         */
        post: operations["resumeSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the round now
         * @description A round that has already ended keeps its end.
         */
        post: operations["closeSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/restock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add units to a round
         * @description A round that is over cannot get more units.
         */
        post: operations["restockSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change when a round's units become available
         * @description The new plan replaces the current one at once. Units that are available stay available, and the new plan's `at_once`
         *     is added to them. A round that was loaded without a plan cannot get one: all of its units are available.
         */
        post: operations["changeRain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rounds/{round}/beacon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post the beacon that a round's draw waits for
         * @description Drand's signature of the round that the draw has named, from `https://api.drand.sh/CHAIN_HASH/public/ROUND` or any
         *     other relay, once that round has come. It is checked against drand's public key. A round that waits for its beacon to
         *     open is loaded within the next minute; a draw at the end continues within the next minute. Posting the same beacon
         *     again changes nothing.
         */
        post: operations["postBeacon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rounds/{round}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Audit a round */
        get: operations["auditRound"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rounds/{round}/winners/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send winners who were not notified to the gift service
         * @description For a draw that ran before the deployment had a gift service. One request looks at a thousand prizes, starting after
         *     prize number `after`; `next_after` is where the next request continues. Winners who were notified are skipped, and a
         *     winner who is notified twice gets the same `Idempotency-Key`, so the request can be repeated.
         */
        post: operations["resendWinners"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rounds/{round}/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the orders of a round
         * @description A page has up to 1,000 rows in no particular order: sort by `ordered_at`. `Link` leads to the next page; the last page
         *     has none. All pages together have each order made before the first page was requested exactly once, except that an
         *     order made in the last second before it may be missing, since the index lags. Each row has the state at the time its
         *     page was read. Orders written by versions before this one are missing.
         *
         *     CSV follows RFC 4180, in UTF-8; the first page alone begins with a byte order mark and the header row. A cell that
         *     begins with `=`, `+`, `-`, `@`, a tab, a carriage return or a line feed gets a leading `'`, so that no spreadsheet
         *     takes it for a formula. In JSON Lines, each line is an `AdminOrder`.
         */
        get: operations["exportOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/rounds/{round}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the totals of a round
         * @description Totals of the round's orders as they are now: how many are in each state, revenue and refunds. A page covers up to
         *     1,000 orders; add up all pages, and take the latest `last_kept_at`. All pages together cover each order made before
         *     the first page was requested (`as_of`) exactly once, except that an order made in the last second before it may be
         *     missing. Orders written by versions before this one are missing.
         */
        get: operations["reportRound"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find orders, newest first
         * @description The orders of a sale, of a user, or of a user in a sale. A sale without a round means its latest round; together with
         *     a user it means the whole sale. Unknown parameters are refused, because a misspelled filter would otherwise be
         *     ignored.
         *
         *     With `state`, or with both a user and a sale, one request looks at about 1,000 orders at most, so a page may have
         *     fewer than `limit` orders, or none, and still a `next_cursor`. A reservation whose order is not written yet is in no
         *     list. An order made in the last second may be missing, since the indexes lag. Orders written by versions before this
         *     one are found by user only.
         */
        get: operations["findOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/orders/{reservation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an order with its payments and history */
        get: operations["lookAtOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payments that must be refunded, the longest due first
         * @description Payments for an order that could not take them: the order had ended, another payment had paid it, or the amount was
         *     wrong. A payment that a version before this one recorded is only listed once its callback comes again, but its order
         *     shows the `refund` all the same, and it can be marked as refunded.
         */
        get: operations["listRefunds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/refunds/refunded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a payment as refunded
         * @description The first request marks it. A second request changes nothing and returns who marked it and when. The system moves no
         *     money. The order's state does not change, but its user no longer sees `refund_due`.
         */
        post: operations["markRefunded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/isolate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Limit how many requests a second a sale may have
         * @description Protects the other sales. At most this many challenges, this many answers and this many reservations of the sale reach
         *     Redis in a second, over all processes; the rest gets 429. Wrong answers do not count. Every process applies it within
         *     five seconds. Null lifts the limit.
         */
        post: operations["isolateSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sales/{sale_id}/end_recurrence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make this round the last one
         * @description The round continues, and no further round begins. Repeating it changes nothing.
         */
        post: operations["endRecurrence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/switches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get what is stopped */
        get: operations["switches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop everything, or one sale
         * @description Nobody is admitted and nobody can reserve until it is started again. It takes effect within five seconds.
         */
        post: operations["stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start everything, or one sale, again
         * @description Starting everything does not start sales that were stopped individually. A sale that is started sells nothing while
         *     everything is stopped; `stopped` in the answer says so.
         */
        post: operations["start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/denied": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the users, addresses and networks that are denied */
        get: operations["listDenied"];
        put?: never;
        /**
         * Deny a user, an address or a network until a given time
         * @description Repeating the request changes nothing; another time replaces the first. The denial of a user is in force in every
         *     loaded sale when this request is answered. If Redis did not answer, the log says so, and the denial is in force within
         *     a minute. The denial of an address or a network is in force within seconds, for challenges, tokens and reservations;
         *     200 can be denied at a time.
         */
        post: operations["deny"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/allow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Allow a user, an address or a network again, denied or not
         * @description Allowing a network does not allow another network that contains it. This route takes any user id.
         */
        post: operations["allowNamed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/denied/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Allow a user again, denied or not */
        delete: operations["allow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/groups/{group}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the users of a group */
        get: operations["listGroup"];
        put?: never;
        /**
         * Add users to a group
         * @description Adding a user twice changes nothing, so the request can be repeated. A list of a million users takes a thousand
         *     requests. Groups that come with a token need no list.
         */
        post: operations["addToGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/groups/{group}/users/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove users from a group
         * @description A token that such a user already has stays valid until it expires, after five minutes at most.
         */
        post: operations["removeFromGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/redrive/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send dead letters back to their queue */
        post: operations["redrive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Lower case, digits and hyphens, not beginning with a hyphen. */
        SaleId: string;
        /** @description `SALE.ROUND.UUID` */
        ReservationId: string;
        /** @description URL-safe Base64 without padding. Opaque to clients. */
        Token: string;
        /** @description Printable ASCII without spaces. */
        IdempotencyKey: string;
        /** @description Opaque to clients. */
        Cursor: string;
        /** Format: date-time */
        Moment: string;
        /** @description An ISO 4217 code. */
        Currency: string;
        /** @description One numbered unit of a round's stock. */
        Unit: number;
        Nothing: Record<string, never>;
        /** @description API Gateway's own error message. */
        GatewayMessage: {
            message: string | null;
        };
        ChallengeRequest: {
            /**
             * @description Proof of work is for people who cannot see a picture. A sale without challenges gives a challenge of the kind
             *     `none`, whatever is requested.
             * @enum {unknown}
             */
            kind?: "picture" | "work" | "none";
        };
        Challenge: components["schemas"]["PictureChallenge"] | components["schemas"]["WorkChallenge"] | components["schemas"]["NoChallenge"];
        /** @description The kinds that the sale offers, the default first. Missing in sales written by versions before this one, which offer both. */
        ChallengeKinds: ("picture" | "work" | "none")[];
        PictureChallenge: {
            challenge_id: components["schemas"]["ChallengeId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "picture";
            kinds?: components["schemas"]["ChallengeKinds"];
            /** @description A sum. The answer is its result in decimal digits. */
            picture: string;
            expires_at: components["schemas"]["Moment"];
        };
        WorkChallenge: {
            challenge_id: components["schemas"]["ChallengeId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "work";
            kinds?: components["schemas"]["ChallengeKinds"];
            /** @description The answer is a text for which the SHA-256 of `CHALLENGE_ID:ANSWER` begins with this many zero bits. */
            work: {
                bits: number;
            };
            expires_at: components["schemas"]["Moment"];
        };
        /** @description The sale has no challenges. */
        NoChallenge: {
            challenge_id: components["schemas"]["ChallengeId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "none";
            kinds?: components["schemas"]["ChallengeKinds"];
            expires_at: components["schemas"]["Moment"];
        };
        ChallengeId: string;
        /** @description Both are required, unless the sale has no challenges. */
        ChallengeAnswer: {
            challenge_id?: components["schemas"]["ChallengeId"];
            /** @description 64 bytes at most. */
            answer?: string;
        };
        Admission: {
            token: components["schemas"]["Token"];
            expires_at: components["schemas"]["Moment"];
            /** @description The path of the reservation request. */
            reserve_path: string;
        };
        Accepted: {
            reservation_id: components["schemas"]["ReservationId"];
            /** @constant */
            status: "queued";
        };
        /** @enum {unknown} */
        ReservationStatus: "queued" | "pending_payment" | "granted" | "paid" | "expired" | "cancelled" | "failed";
        Reservation: components["schemas"]["QueuedReservation"] | components["schemas"]["PendingReservation"] | components["schemas"]["GrantedReservation"] | components["schemas"]["EndedReservation"] | components["schemas"]["FailedReservation"];
        /** @description Milliseconds to wait before asking again. Clients that keep to it are not rate limited. Absent if the status is final. */
        PollAfterMs: number;
        SaleReservations: {
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            reservations: components["schemas"]["Reservation"][];
            /**
             * @description Redis lost the round a moment ago, and more reservations may come back.
             * @constant
             */
            settling?: true;
            poll_after_ms?: components["schemas"]["PollAfterMs"];
        };
        PriceMinor: number;
        /**
         * @description The order received a payment that it could not take.
         * @constant
         */
        RefundDue: true;
        /** @description The order is not written yet, and the reservation may still get another unit, so it has no award. */
        QueuedReservation: {
            reservation_id: components["schemas"]["ReservationId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "queued";
            unit: components["schemas"]["Unit"];
            reserved_at: components["schemas"]["Moment"];
            poll_after_ms: components["schemas"]["PollAfterMs"];
        };
        /** @description The order waits for its payment. */
        PendingReservation: {
            reservation_id: components["schemas"]["ReservationId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "pending_payment";
            unit: components["schemas"]["Unit"];
            reserved_at: components["schemas"]["Moment"];
            price_minor: components["schemas"]["PriceMinor"];
            currency: components["schemas"]["Currency"];
            pay_by: components["schemas"]["Moment"];
            poll_after_ms: components["schemas"]["PollAfterMs"];
            refund_due?: components["schemas"]["RefundDue"];
        };
        /**
         * @description The order is final without a payment: it can neither be cancelled nor expire. In a round with awards, `award` is what
         *     `unit` won.
         */
        GrantedReservation: {
            reservation_id: components["schemas"]["ReservationId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "granted";
            unit: components["schemas"]["Unit"];
            reserved_at: components["schemas"]["Moment"];
            price_minor: components["schemas"]["PriceMinor"];
            currency: components["schemas"]["Currency"];
            award?: components["schemas"]["Award"];
            poll_after_ms?: components["schemas"]["PollAfterMs"];
            refund_due?: components["schemas"]["RefundDue"];
        };
        /** @description What a unit won. */
        Award: components["schemas"]["AmountAward"] | components["schemas"]["PrizeAward"] | components["schemas"]["BlankAward"] | components["schemas"]["EnteredAward"];
        AmountAward: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "amount";
            amount_minor: number;
            currency: components["schemas"]["Currency"];
        };
        PrizeAward: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "prize";
            prize: components["schemas"]["PrizeName"];
        };
        /** @description Nothing. */
        BlankAward: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "blank";
        };
        /** @description The reservation takes part in a draw that is still to come. The unit is its number. */
        EnteredAward: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "entered";
        };
        /** @description A reservation that was cancelled before its order was written has no price. */
        EndedReservation: {
            reservation_id: components["schemas"]["ReservationId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "paid" | "expired" | "cancelled";
            unit: components["schemas"]["Unit"];
            reserved_at: components["schemas"]["Moment"];
            price_minor?: components["schemas"]["PriceMinor"];
            currency?: components["schemas"]["Currency"];
            ended_at: components["schemas"]["Moment"];
            refund_due?: components["schemas"]["RefundDue"];
        };
        /** @description The order could not be made. */
        FailedReservation: {
            reservation_id: components["schemas"]["ReservationId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "failed";
            unit: components["schemas"]["Unit"];
            reserved_at: components["schemas"]["Moment"];
            price_minor?: components["schemas"]["PriceMinor"];
            currency?: components["schemas"]["Currency"];
            ended_at: components["schemas"]["Moment"];
            /**
             * @description '`entries_closed`: the reservation arrived after the draw of its round had begun, because a part of the system had failed for a long time.'
             * @enum {unknown}
             */
            reason: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            refund_due?: components["schemas"]["RefundDue"];
        };
        Orders: {
            /** @description At most 20 orders. On the first page, all queued reservations come before them. */
            orders: components["schemas"]["Reservation"][];
            /** @description Present if there is another page. */
            next_cursor?: components["schemas"]["Cursor"];
        };
        /**
         * @description The `status` that the order's user sees.
         * @enum {unknown}
         */
        OrderState: "pending_payment" | "granted" | "paid" | "expired" | "cancelled" | "failed";
        /** @description The provider's id of the payment. */
        PaymentId: string;
        /** @description Opaque to clients. */
        OrdersCursor: string;
        /** @description Opaque to clients. */
        ExportCursor: string;
        /** @description Opaque to clients. */
        RefundsCursor: string;
        /** @description An order as operators see it. An order that could not be made has neither a price nor `pay_by`. */
        AdminOrder: {
            reservation_id: components["schemas"]["ReservationId"];
            sale_id: components["schemas"]["SaleId"];
            round: number;
            user: components["schemas"]["UserId"];
            unit: components["schemas"]["Unit"];
            state: components["schemas"]["OrderState"];
            price_minor?: components["schemas"]["PriceMinor"];
            currency?: components["schemas"]["Currency"];
            award?: components["schemas"]["Award"];
            reserved_at: components["schemas"]["Moment"];
            /** @description When the order was written. */
            ordered_at: components["schemas"]["Moment"];
            pay_by?: components["schemas"]["Moment"];
            /** @description When it was paid, expired, cancelled or failed. */
            ended_at?: components["schemas"]["Moment"];
            /**
             * @description Why it failed.
             * @enum {unknown}
             */
            reason?: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            /** @description The payment that the order accepted. */
            payment_id?: components["schemas"]["PaymentId"];
            /**
             * @description Concerns payments that the order could not take: `due` while at least one must be refunded, `refunded` once all
             *     are marked.
             * @enum {unknown}
             */
            refund?: "due" | "refunded";
        };
        AdminOrders: {
            orders: components["schemas"]["AdminOrder"][];
            /** @description Present if there is another page. */
            next_cursor?: components["schemas"]["OrdersCursor"];
        };
        /** @description A page of a round's totals. */
        Report: {
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            title: components["schemas"]["Title"];
            opens_at: components["schemas"]["Moment"];
            closes_at: components["schemas"]["Moment"];
            total: number;
            currency: components["schemas"]["Currency"];
            settlement: components["schemas"]["Settlement"];
            /** @description The totals of all pages cover the orders that were made before this time. */
            as_of: components["schemas"]["Moment"];
            /** @description How many orders of this page are in each state. */
            orders: {
                pending_payment: number;
                granted: number;
                paid: number;
                expired: number;
                cancelled: number;
                failed: number;
            };
            /** @description The sum of the paid orders of this page, in minor units of `currency`. */
            revenue_minor: number;
            /** @description Payments that orders of this page could not take, by currency. */
            refunds: {
                [key: string]: {
                    due: number;
                    due_minor: number;
                    made: number;
                    made_minor: number;
                };
            };
            /** @description When the last unit that now has an order was reserved. Absent on a page without such an order. */
            last_kept_at?: components["schemas"]["Moment"];
            next_cursor?: components["schemas"]["ExportCursor"];
        };
        /** @description An order, its payments and its history. */
        OrderHistory: {
            reservation_id: components["schemas"]["ReservationId"];
            sale_id: components["schemas"]["SaleId"];
            round: number;
            user: components["schemas"]["UserId"];
            unit: components["schemas"]["Unit"];
            state: components["schemas"]["OrderState"];
            price_minor?: components["schemas"]["PriceMinor"];
            currency?: components["schemas"]["Currency"];
            award?: components["schemas"]["Award"];
            reserved_at: components["schemas"]["Moment"];
            /** @description When the order was written. */
            ordered_at: components["schemas"]["Moment"];
            pay_by?: components["schemas"]["Moment"];
            /** @description When it was paid, expired, cancelled or failed. */
            ended_at?: components["schemas"]["Moment"];
            /**
             * @description Why it failed.
             * @enum {unknown}
             */
            reason?: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            /** @description The payment that the order accepted. */
            payment_id?: components["schemas"]["PaymentId"];
            /**
             * @description Concerns payments that the order could not take: `due` while at least one must be refunded, `refunded` once all
             *     are marked.
             * @enum {unknown}
             */
            refund?: "due" | "refunded";
            payments: {
                payment_id: components["schemas"]["PaymentId"];
                /**
                 * @description Whether the order accepted it, it must be refunded, or it was refunded.
                 * @enum {unknown}
                 */
                outcome: "applied" | "refund_due" | "refunded";
                price_minor?: number;
                currency?: components["schemas"]["Currency"];
                noted_at?: components["schemas"]["Moment"];
                refunded_at?: components["schemas"]["Moment"];
                refunded_by?: components["schemas"]["UserId"];
            }[];
            /** @description Oldest first. */
            history: {
                at: components["schemas"]["Moment"];
                /**
                 * @description `ordered` is when the order was written, `granted` when it was written as final. An order that could not be
                 *     made has neither.
                 * @enum {unknown}
                 */
                event: "reserved" | "ordered" | "granted" | "paid" | "expired" | "cancelled" | "failed" | "refund_due" | "refunded";
                payment_id?: components["schemas"]["PaymentId"];
                /** @description The operator who marked it. */
                by?: components["schemas"]["UserId"];
            }[];
        };
        /** @description A payment that an order could not take. */
        Refund: {
            payment_id: components["schemas"]["PaymentId"];
            reservation_id: components["schemas"]["ReservationId"];
            /** @description The order's user. */
            user?: components["schemas"]["UserId"];
            order_state?: components["schemas"]["OrderState"];
            /** @description The amount that was paid. */
            price_minor: number;
            currency: components["schemas"]["Currency"];
            /** @description When the payment was recorded. */
            due_at: components["schemas"]["Moment"];
            refunded_at?: components["schemas"]["Moment"];
            /** @description The operator who marked it. */
            refunded_by?: components["schemas"]["UserId"];
        };
        Refunds: {
            refunds: components["schemas"]["Refund"][];
            /** @description Present if there is another page. */
            next_cursor?: components["schemas"]["RefundsCursor"];
        };
        MarkRefunded: {
            payment_id: components["schemas"]["PaymentId"];
        };
        /** @description A refund that is marked. */
        MarkedRefund: components["schemas"]["Refund"];
        Callback: components["schemas"]["PaymentSucceeded"] | components["schemas"]["OtherEvent"];
        /** @description A completed payment. Other fields are ignored. */
        PaymentSucceeded: {
            /** @constant */
            type: "payment.succeeded";
            timestamp: string;
            data: {
                /** @description Printable ASCII without spaces. */
                payment_id: string;
                reservation_id: components["schemas"]["ReservationId"];
                price_minor: number;
                currency: components["schemas"]["Currency"];
            };
        };
        /** @description Any other event of the provider. It is acknowledged and ignored. */
        OtherEvent: {
            type: string;
        };
        PaymentOutcome: {
            reservation_id?: components["schemas"]["ReservationId"];
            /**
             * @description `applied`: the payment has paid the order. `refund_due`: the order could not take the payment; refund it.
             *     `payment_reused`: the payment was for another reservation before, and nothing is written. `amount_changed`: the
             *     payment was reported for this reservation before, with another amount, and nothing is written. `ignored`: the
             *     system does not handle events of this type.
             * @enum {unknown}
             */
            outcome: "applied" | "refund_due" | "payment_reused" | "amount_changed" | "ignored";
        };
        /** @description What a unit stands for. */
        Allocation: components["schemas"]["UnitsAllocation"] | components["schemas"]["SplitAllocation"] | components["schemas"]["PrizesAllocation"];
        /** @description Every unit is the same item. */
        UnitsAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "units";
        };
        /**
         * @description Each unit is a part of an amount of money, in the currency of the price: a red packet. The sale has at most 1,000,000
         *     units, and the amount is at least `min_minor` for each of them.
         */
        SplitAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "split";
            total_minor: number;
            /** @description The smallest part. */
            min_minor: number;
            /**
             * @description '`equal` parts differ by at most one minor unit; the size of `drawn` parts is random.'
             * @enum {unknown}
             */
            parts: "equal" | "drawn";
            beacon?: components["schemas"]["WithBeacon"];
        };
        /**
         * @description Each unit is a ticket, which wins a prize or nothing. The sale has at most 1,000,000 units, and no more prizes than
         *     units. An instant draw tells each ticket at once what it won; the operator, who knows the seed, could then know before
         *     the end which tickets win. In a draw at the end the tickets are entries, and the prizes go to some of them.
         */
        PrizesAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "prizes";
            prizes: {
                name: components["schemas"]["PrizeName"];
                /** @description How many tickets win this prize. */
                count: number;
            }[];
            /**
             * @description When the winners are decided.
             * @default instant
             * @enum {unknown}
             */
            draw: "instant" | "at_end";
            beacon?: components["schemas"]["WithBeacon"];
        };
        /**
         * @description Whether to mix the seed with the randomness of a round of drand that is named in advance. Not possible with equal
         *     parts. If awards are known at once, the round is not loaded until an operator has posted its beacon, so nobody can buy
         *     earlier; such a sale cannot recur.
         * @default false
         */
        WithBeacon: boolean;
        DrandRound: {
            /** @description The hash of drand's chain, quicknet. */
            chain_hash: components["schemas"]["Digest"];
            round: number;
            /** @description When this round of drand comes, at least a minute after it was named. */
            at: components["schemas"]["Moment"];
        };
        /** @description Drand's signature of a round, as drand publishes it. */
        Signature: string;
        Beacon: {
            signature: components["schemas"]["Signature"];
            /** @description SHA-256 of the signature, which is mixed with the seed. */
            randomness: components["schemas"]["Digest"];
        };
        NewBeacon: {
            signature: components["schemas"]["Signature"];
        };
        PostedBeacon: {
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            drand: components["schemas"]["DrandRound"];
            beacon: components["schemas"]["Beacon"];
        };
        /** @description Shown to people. No control characters. */
        PrizeName: string;
        /**
         * @description What makes an order final: with `paid`, a payment within `payment_window_s`; with `free`, writing the order. A free
         *     order can neither be cancelled nor expire, and `price_minor` is 0. A sale whose allocation is not `units` is free,
         *     with a `per_user_limit` of 1.
         * @enum {unknown}
         */
        Settlement: "paid" | "free";
        /** @description 32 bytes in hexadecimal. */
        Digest: string;
        /**
         * @description `commitment_only`: the seed alone decides who wins what. Whoever drew the seed is bound to it once the sale is
         *     published, but could have drawn again before. `beacon`: a round of drand, whose randomness nobody knew at that time,
         *     takes part in the decision.
         * @enum {unknown}
         */
        DrawLabel: "commitment_only" | "beacon";
        /** @description What is drawn, and the commitment that binds the operator. */
        DrawTerms: {
            /** @description The parts of the amount, or the tickets. */
            units: number;
            allocation: components["schemas"]["SplitAllocation"] | components["schemas"]["PrizesAllocation"];
            commitment: components["schemas"]["Digest"];
            label: components["schemas"]["DrawLabel"];
        };
        Draw: {
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            /**
             * @description The version of the encoding in docs/draws.md.
             * @constant
             */
            encoding: 1;
            currency: components["schemas"]["Currency"];
            closes_at: components["schemas"]["Moment"];
            /** @description The seed is published at this time or shortly after. */
            reveals_at: components["schemas"]["Moment"];
            /** @description The round of drand whose beacon is mixed with the seed. In a draw at the end, present once its entries have closed. */
            drand?: components["schemas"]["DrandRound"];
            /** @description The beacon, once it is posted. */
            beacon?: components["schemas"]["Beacon"];
            /** @description Published once the round is over; in a draw at the end, once its entries have closed. */
            seed?: components["schemas"]["Digest"];
            /** @description How far a draw at the end is. Absent in instant draws. */
            at_end?: {
                /**
                 * @description `open`: entries may still come. `awaiting_beacon`: the entries are counted, and the winners are known once the
                 *     beacon is posted. `closed`: the winners are getting their prizes one by one. `drawn`: all winners have their
                 *     prizes.
                 * @enum {unknown}
                 */
                state: "open" | "awaiting_beacon" | "closed" | "drawn";
                /** @description The entries, once they have closed. */
                closed?: {
                    at: components["schemas"]["Moment"];
                    entries: number;
                    /** @description The root of the Merkle tree over the entries. */
                    root: components["schemas"]["Digest"];
                    /** @constant */
                    entries_per_chunk: 4096;
                    /** @description The first thousand winners, by prize. The others follow from the seed and the number of entries. */
                    winners: {
                        /** @description The number of the prize, from 1. */
                        prize: number;
                        /** @description The number of the entry, from 1. */
                        entry: number;
                    }[];
                };
                drawn_at?: components["schemas"]["Moment"];
            };
        } & components["schemas"]["DrawTerms"];
        DrawEntries: {
            chunk: number;
            /** @description Ascending. */
            units: components["schemas"]["Unit"][];
            /** @description The hash of each leaf. */
            leaves: components["schemas"]["Digest"][];
        };
        SaleTerms: {
            sale_id: components["schemas"]["SaleId"];
            title: components["schemas"]["Title"];
            description?: components["schemas"]["Description"];
            pictures?: components["schemas"]["Pictures"];
            list_price_minor?: components["schemas"]["ListPrice"];
            terms_url?: components["schemas"]["TermsUrl"];
            expected_audience?: components["schemas"]["ExpectedAudience"];
            /** @description When everyone can start buying. */
            opens_at: components["schemas"]["Moment"];
            /** @description When buying ends; at most 31 days after `opens_at`. */
            closes_at: components["schemas"]["Moment"];
            total: number;
            per_user_limit: number;
            price_minor: components["schemas"]["PriceMinor"];
            currency: components["schemas"]["Currency"];
            payment_window_s: number;
            recurrence?: components["schemas"]["Recurrence"];
            allocation?: components["schemas"]["Allocation"];
            settlement?: components["schemas"]["Settlement"];
            /**
             * @description Who may buy before everyone else. A group is named in a token or is a list of users. `closes_at` is at most 31
             *     days after the first group may buy. Units can be set aside for one group. Cannot be combined with `rain`.
             */
            early_access?: components["schemas"]["EarlyAccess"][];
            line?: components["schemas"]["LineTerms"];
            lanes?: components["schemas"]["Lanes"];
        };
        /**
         * @description When units become available. Without it all of them are available at the opening. Units that have not dropped before
         *     the round closes are not sold.
         */
        Rain: {
            /**
             * @description Units available at the opening or, in a plan that was changed later, at the change.
             * @default 0
             */
            at_once: number;
            /** @description A steady rate, starting one interval after the opening. */
            steady?: {
                units: number;
                every_s: number;
            };
            /** @description Further drops, in the order of time. */
            drops?: {
                /** @description Seconds after the opening. */
                after_s: number;
                units: number;
            }[];
        };
        /**
         * @description A line in front of a sale that expects more people than can be served at once. Cannot be combined with `early_access`
         *     or `gate.groups_see`.
         */
        LineTerms: {
            /**
             * @description How many seconds before `opens_at` tickets are given out. Fixed once a round has it.
             * @default 3600
             */
            opens_early_s: number;
            /** @description How many people are admitted every second while units are free. Required for a new line. */
            admits_per_s?: number;
            /**
             * @description Whether the line is held up. Those already admitted stay admitted.
             * @default false
             */
            paused: boolean;
        };
        /** @description Sealed by this system. Opaque to clients. */
        Sealed: string;
        Ticket: {
            ticket: components["schemas"]["Sealed"];
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            /**
             * @description Whether the user came before the opening.
             * @enum {unknown}
             */
            class: "early" | "late";
            /** @description The second in which a late user came. */
            came_at?: components["schemas"]["Moment"];
            opens_at: components["schemas"]["Moment"];
            line_path: string;
        };
        LineCount: number;
        PartsPerBillion: number;
        Line: {
            sale: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            /**
             * @description `before` the opening; `moving`; `paused` by operators; `sold_out` while no unit is free, which can change while
             *     `units.may_return` is not 0 or if operators add units; `ended`.
             * @enum {unknown}
             */
            state: "before" | "moving" | "paused" | "sold_out" | "ended";
            /** @description The commitment to the seed, published before anybody came. */
            commitment: string;
            /** @description The seed from which the places follow. Null before the opening. */
            seed: string | null;
            opens_at: components["schemas"]["Moment"];
            tickets_from: components["schemas"]["Moment"];
            people: {
                /** @description An estimate of how many came before the opening. */
                estimate: components["schemas"]["LineCount"];
                /** @description The error of the estimate. */
                error_percent: components["schemas"]["LineCount"];
                /** @description How many came after the opening. */
                late: components["schemas"]["LineCount"];
            };
            admitted: {
                /** @description Early users whose place, in parts per billion, is below this are admitted. */
                early_ppb: components["schemas"]["PartsPerBillion"];
                /** @description Once all early users are admitted, everybody who came before this second is admitted too. */
                late_until: components["schemas"]["Moment"] | null;
                /** @description And everybody who came in this second whose place is below this. */
                late_ppb: components["schemas"]["PartsPerBillion"];
                /** @description How many late users that is, as far as they are counted. */
                late: components["schemas"]["LineCount"];
                /** @description People admitted a second while units are free; 0 while the line is held up. */
                per_s: components["schemas"]["LineCount"];
                as_of: components["schemas"]["Moment"];
            };
            units: {
                total: components["schemas"]["LineCount"];
                /** @description Units that somebody holds or has ordered, paid or not. */
                sold: components["schemas"]["LineCount"];
                /** @description How many of those may come back at most. */
                may_return: components["schemas"]["LineCount"];
            };
            /** @description When to ask again; 0 if the sale is over and nothing will change. */
            poll_after_ms: components["schemas"]["LineCount"];
            /** @description Admitted users send this with their ticket. Null before the opening. */
            front: components["schemas"]["Sealed"] | null;
        };
        EarlyAccess: {
            group: components["schemas"]["GroupName"];
            /** @description How many seconds before `opens_at` the group may buy. */
            lead_s: number;
            /** @description Until `until_s` seconds after `opens_at`, `units` units are for this group only. Then they are everyone's. */
            set_aside?: {
                units: number;
                for_s: number;
            };
        };
        GroupName: string;
        GroupUsers: {
            users: components["schemas"]["UserId"][];
        };
        GroupWritten: {
            group: components["schemas"]["GroupName"];
            /** @description How many users the request named. */
            users: number;
        };
        GroupPage: {
            group: components["schemas"]["GroupName"];
            users: components["schemas"]["UserId"][];
            next_cursor?: components["schemas"]["UserId"];
        };
        /** @description Who is kept out of a sale, and how many people are expected. */
        DoorTerms: {
            /**
             * @description This many strikes within the window, and the user is denied.
             * @default 10
             */
            strikes: number;
            /** @default 600 */
            strike_window_s: number;
            /** @default 3600 */
            denied_for_s: number;
            /**
             * @description How many of a user's reservations in a round may end unpaid, cancelled or expired, before the user gets no more.
             * @default 3
             */
            unpaid_limit: number;
            planned_requests_per_s?: number;
        };
        /** @description What the gate of a sale requires, and who may see the sale and buy. */
        GateTerms: {
            /**
             * @description Which challenges are offered: `any` (a picture, or work for people who cannot see it), `picture`, `work`, or
             *     `none`, where a token is given without a question. Rates, denials and openings apply in any case.
             * @default any
             * @enum {unknown}
             */
            challenge: "any" | "picture" | "work" | "none";
            /**
             * @description Zero bits that a proof of work must begin with. One more doubles the work; 20 take a phone one to a few seconds.
             * @default 20
             */
            work_bits: number;
            /**
             * @description The groups that may see the sale, by the token's claim or by a list. To anybody else the sale does not exist, and
             *     it is in no public document; members find it with `GET /v1/members/sales`. Everybody may see it if the list is
             *     empty. Cannot be combined with awards, whose draw is public.
             */
            groups_see?: components["schemas"]["GroupName"][];
            /**
             * @description The groups that may buy. Others see the sale but get no token (`not_a_member`). Everybody who sees it may buy if
             *     the list is empty.
             */
            groups_buy?: components["schemas"]["GroupName"][];
        };
        /** @description The same times of day on every calendar day in a time zone. */
        Recurrence: {
            /** @constant */
            every: "day";
            /**
             * @description A name of the IANA time zone database.
             * @example Europe/Berlin
             */
            time_zone: string;
        };
        NewSale: {
            door?: components["schemas"]["DoorTerms"];
            gate?: components["schemas"]["GateTerms"];
            rain?: components["schemas"]["Rain"];
        } & components["schemas"]["SaleTerms"];
        RoundTerms: {
            title: components["schemas"]["Title"];
            description?: components["schemas"]["Description"];
            pictures?: components["schemas"]["Pictures"];
            list_price_minor?: components["schemas"]["ListPrice"];
            terms_url?: components["schemas"]["TermsUrl"];
            expected_audience?: components["schemas"]["ExpectedAudience"];
            opens_at: components["schemas"]["Moment"];
            closes_at: components["schemas"]["Moment"];
            total: number;
            per_user_limit: number;
            price_minor: components["schemas"]["PriceMinor"];
            currency: components["schemas"]["Currency"];
            payment_window_s: number;
            door: components["schemas"]["DoorTerms"];
            gate?: components["schemas"]["GateTerms"];
            allocation: components["schemas"]["Allocation"];
            settlement: components["schemas"]["Settlement"];
            early_access?: components["schemas"]["EarlyAccess"][];
            line?: components["schemas"]["LineTerms"];
            lanes?: components["schemas"]["Lanes"];
            rain?: components["schemas"]["Rain"];
        };
        /**
         * @description The fields to change, each as in a new sale, and the version that they are based on: `version` alone for a draft or
         *     for future rounds, `round` with `round_version` for a round. In a draft and in future rounds every field can be
         *     changed unless it says otherwise; in a round that is over, none.
         */
        SaleEdit: {
            /** @description The `version` that the change is based on. */
            version?: number;
            /** @description The latest round. */
            round?: components["schemas"]["Round"];
            /** @description The `round_version` that the change is based on. */
            round_version?: number;
            /** @description Can change in a round until it is over. */
            title?: components["schemas"]["Title"];
            /** @description Can change in a round until it is over, like the next four. */
            description?: components["schemas"]["Description"];
            pictures?: components["schemas"]["Pictures"];
            /** @description Null removes it. */
            list_price_minor?: components["schemas"]["ListPrice"] | null;
            /** @description Null removes it. */
            terms_url?: components["schemas"]["TermsUrl"] | null;
            /** @description Null removes it. */
            expected_audience?: components["schemas"]["ExpectedAudience"] | null;
            /** @description Can change in a round until it is loaded, at the earliest ten minutes before it opens. Among future rounds, the next one opens one recurrence after this. */
            opens_at?: components["schemas"]["Moment"];
            /** @description Can change in a round until it is over. It must lie ahead, and not after the next round opens. */
            closes_at?: components["schemas"]["Moment"];
            /** @description Can change in a round until it is loaded; after that it can only grow. Never in a round with awards. */
            total?: number;
            /** @description Cannot change in a round, whose buyers were promised it. */
            per_user_limit?: number;
            /** @description Cannot change in a round, whose buyers were promised it. */
            price_minor?: components["schemas"]["PriceMinor"];
            /** @description Cannot change in a round, whose buyers were promised it. */
            currency?: components["schemas"]["Currency"];
            /** @description Cannot change in a round, whose buyers were promised it. */
            payment_window_s?: number;
            /** @description Only in a draft. Null means that the sale does not recur. To end the recurrence of a published sale use `end_recurrence`. */
            recurrence?: components["schemas"]["Recurrence"] | null;
            /** @description Can change in a round until it is over. It replaces the whole gate; missing fields get their defaults. */
            door?: components["schemas"]["DoorTerms"];
            /** @description Can change in a round until it is over. Missing fields keep their values. */
            gate?: components["schemas"]["GateTerms"];
            /** @description Cannot change in a round, whose buyers were promised it. */
            allocation?: Omit<components["schemas"]["Allocation"], "kind">;
            /** @description Cannot change in a round, whose buyers were promised it. */
            settlement?: components["schemas"]["Settlement"];
            /** @description Cannot change in a round, whose buyers were promised it. */
            early_access?: components["schemas"]["EarlyAccess"][];
            /**
             * @description In a round, its rate and whether it is held up can change until the round is over. Missing fields keep their
             *     values. In a draft or in future rounds, null removes the line.
             */
            line?: components["schemas"]["LineTerms"] | null;
            /** @description Only in a draft. */
            lanes?: components["schemas"]["Lanes"];
            /** @description In a round that was loaded with a plan, until it is over, as with `rain`; in one without a plan, until it is loaded. */
            rain?: components["schemas"]["Rain"];
        };
        SaleCopy: {
            sale_id: components["schemas"]["SaleId"];
            opens_at?: components["schemas"]["Moment"];
            closes_at?: components["schemas"]["Moment"];
        };
        /** @description The offer, with the terms of its latest round. */
        SaleDetails: {
            door: WithRequired<components["schemas"]["DoorTerms"], "strikes" | "strike_window_s" | "denied_for_s" | "unpaid_limit">;
            gate?: WithRequired<components["schemas"]["GateTerms"], "challenge" | "work_bits">;
            rain?: {
                /** @description When the plan was changed, in milliseconds after the opening. Its steady rate counts from here. */
                from_ms?: number;
            } & WithRequired<components["schemas"]["Rain"], "at_once">;
            /** @description The sale's limit in requests a second, while it is isolated. */
            isolated_requests_per_s?: number;
            /** @description Whether the latest round gets at least twice as many requests as expected. Measured once a minute; only in lists of sales and in a single sale. */
            hot?: {
                /** @description Requests a second between the last two measurements, not counting those that got `sold_out`. */
                requests_per_s: number;
                /** @description The sale's `planned_requests_per_s`; without a plan, 3,000 for each of its lanes. */
                expected_requests_per_s: number;
                since: components["schemas"]["Moment"];
                as_of: components["schemas"]["Moment"];
            };
            /** @enum {unknown} */
            state: "draft" | "published" | "withdrawn";
            /** @description What future rounds of a recurring sale offer, if it differs from the latest round. Their window is the latest round's. */
            rounds_to_come?: components["schemas"]["RoundTerms"];
            round: number;
            /** @description How often the offer has been written. */
            version: number;
            /** @description How often the latest round has been written. Absent in drafts and in the list of withdrawn sales. */
            round_version?: number;
            paused: boolean;
        } & WithRequired<components["schemas"]["SaleTerms"], "allocation" | "settlement">;
        Sale: components["schemas"]["SaleDetails"];
        LoggedSale: {
            /** @description What was done to the offer and to its latest round, newest last. The last 50 changes of each are kept, and the round's `beacon`. */
            log: components["schemas"]["LogEntry"][];
        } & components["schemas"]["SaleDetails"];
        LogEntry: {
            /** @description When it was done. Missing if an earlier version recorded it. */
            at?: components["schemas"]["Moment"];
            /** @description The operator. Absent if a schedule did it, or if an earlier version recorded it. */
            by?: components["schemas"]["UserId"];
            /** @description For example `create`, `publish`, `begin`, `pause`, `resume`, `close`, `restock`, `rain`, `beacon`, `isolate`, `edit`, `duplicate`, `withdraw` or `end_recurrence`. */
            action: string;
            /** @description Details of the request, such as the number of units. For an edit, the version that it was based on and the first 300 characters of the changes. */
            parameters?: string;
        };
        Sales: {
            sales: components["schemas"]["Sale"][];
            /** @description Present if there is another page. */
            next_cursor?: string;
        };
        /** @description The subject of a token. Printable ASCII without spaces. */
        UserId: string;
        Round: number;
        InRound: {
            round: components["schemas"]["Round"];
        };
        Isolation: {
            round: components["schemas"]["Round"];
            requests_per_s: number | null;
        };
        /** @description One sale, or everything if `sale_id` is absent. */
        Which: {
            sale_id?: components["schemas"]["SaleId"];
        };
        Switches: {
            /** @description Everything is stopped. */
            stopped: boolean;
            /** @description Sales that are stopped individually. */
            stopped_sales: components["schemas"]["SaleId"][];
        };
        /** @description A user, an address or a network. */
        Allowed: {
            user?: components["schemas"]["UserId"];
            address?: components["schemas"]["Address"];
            network?: components["schemas"]["Network"];
        } & (unknown | unknown | unknown);
        /**
         * @description An IPv4 or IPv6 address.
         * @example 192.0.2.7
         * @example 2001:db8::7
         */
        Address: string;
        /**
         * @description A network as ADDRESS/PREFIX: at least /16 of IPv4 and /32 of IPv6. The bits after the prefix are taken as zero. A
         *     single address is a network of one.
         * @example 192.0.2.0/24
         * @example 2001:db8::/48
         */
        Network: string;
        /** @description A denial of a user, an address or a network. */
        NewDenial: {
            user?: components["schemas"]["UserId"];
            address?: components["schemas"]["Address"];
            network?: components["schemas"]["Network"];
            /** @description When the denial ends; at most ten years from now. */
            until: components["schemas"]["Moment"];
            /** @description The reason, for operators. Only for an address or a network. */
            note?: string;
        } & (unknown | unknown | unknown);
        NetworkDenial: {
            address?: components["schemas"]["Address"];
            network?: components["schemas"]["Network"];
            until: components["schemas"]["Moment"];
            /** @constant */
            reason: "asked";
            /** @constant */
            by: "operators";
            /** @description The operator who denied it. */
            operator: components["schemas"]["UserId"];
            at: components["schemas"]["Moment"];
            note?: string;
        } & (unknown | unknown);
        Denial: {
            user: components["schemas"]["UserId"];
            until: components["schemas"]["Moment"];
            /** @enum {unknown} */
            reason: "asked" | "forged_tokens" | "wrong_answers" | "failed_order";
            /** @enum {unknown} */
            by: "operators" | "system";
        };
        Denials: {
            denied_networks: components["schemas"]["NetworkDenial"][];
            denied: components["schemas"]["Denial"][];
        };
        /** @description The same form as a sale's id. */
        CampaignId: string;
        /** @description Shown to people. No control characters. */
        Title: string;
        /** @description What is sold, as plain text. A line feed ends a paragraph; no other control characters. */
        Description: string;
        /** @description The first one represents the sale in lists. */
        Pictures: components["schemas"]["PictureUrl"][];
        /**
         * @description On a host that the deployment's setting `pictureHosts` names, or one of the page's own drawings.
         * @example /art/lamp.svg
         */
        PictureUrl: string;
        /** @description The usual price of a unit, in minor units of `currency`. More than `price_minor`. */
        ListPrice: number;
        /**
         * @description The seller's terms.
         * @example https://shop.example.com/terms
         */
        TermsUrl: string;
        /**
         * @description How many parts of Redis each round is spread over; 1 if absent, and then not shown. One part serves about 30,000
         *     requests a second, and several lie on different shards of a cluster. The last units of a sale with several lanes move
         *     to where they are requested, so all of them are sold. Fixed once the sale is published. Cannot be combined with
         *     `rain`, with units that are set aside, or with a draw at the end.
         */
        Lanes: number;
        /** @description How many people are expected, for the planner. Not shown to buyers. */
        ExpectedAudience: number;
        /** @description In the order in which they are shown. */
        SaleIds: components["schemas"]["SaleId"][];
        NewCampaign: {
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            sale_ids: components["schemas"]["SaleIds"];
            /**
             * @description The most live orders one user may have in all sales of the campaign together. It applies to orders made while it
             *     is set. An order beyond it fails (`campaign_limit`), and its unit is sold again.
             */
            limit_per_user?: number;
            /** @description The version that the change is based on. */
            version?: number;
        };
        Campaign: {
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            sale_ids: components["schemas"]["SaleIds"];
            /**
             * @description The most live orders one user may have in all sales of the campaign together. It applies to orders made while it
             *     is set. An order beyond it fails (`campaign_limit`), and its unit is sold again.
             */
            limit_per_user?: number;
            version: number;
        };
        Campaigns: {
            campaigns: components["schemas"]["Campaign"][];
        };
        CampaignLine: {
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            opens_at: components["schemas"]["Moment"];
            closes_at: components["schemas"]["Moment"];
        };
        CampaignList: {
            server_time: components["schemas"]["Moment"];
            campaigns: components["schemas"]["CampaignLine"][];
        };
        PublishedSaleList: {
            server_time: components["schemas"]["Moment"];
            sales: components["schemas"]["Card"][];
            /** @description The campaign's published sales, the first to open first. */
            campaigns: components["schemas"]["CampaignLine"][];
        };
        CampaignPage: {
            server_time: components["schemas"]["Moment"];
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            sales: components["schemas"]["Card"][];
        };
        SaleOnOffer: {
            sale_id: components["schemas"]["SaleId"];
            title: components["schemas"]["Title"];
            round: number;
            /** @enum {unknown} */
            state: "upcoming" | "open" | "paused" | "closed";
            opens_at: components["schemas"]["Moment"];
            closes_at: components["schemas"]["Moment"];
            price_minor: components["schemas"]["PriceMinor"];
            currency: components["schemas"]["Currency"];
            list_price_minor?: components["schemas"]["ListPrice"];
            /** @description The first of its pictures. */
            picture?: components["schemas"]["PictureUrl"];
            per_user_limit: number;
            payment_window_s: number;
            settlement: components["schemas"]["Settlement"];
            /** @description Only of a round with awards. What can be won, and how often, is published before it opens. */
            draw?: components["schemas"]["DrawTerms"];
            /**
             * @description Roughly what is left. `unknown` at or before the opening means that the sale is still being prepared and cannot be bought yet. Later it means that nobody can say at the moment.
             * @enum {unknown}
             */
            availability: "available" | "few_left" | "sold_out" | "unknown";
            /** @description How many units have become available, in a sale that releases them over time. */
            rain?: {
                units: number;
                /** @description How many units have become available, whoever has them now. */
                dropped: number;
            };
            /** @description When more units become available, in an open sale whose plan has more to come. */
            next_release_at?: components["schemas"]["Moment"];
            /** @description Who may buy before everyone else, who can from `opens_at`. */
            early_access?: {
                group: components["schemas"]["GroupName"];
                opens_at: components["schemas"]["Moment"];
                /** @description Until then some units are for this group only. */
                set_aside_until?: components["schemas"]["Moment"];
            }[];
            /** @description The sale's line. `GET /v1/sales/{sale_id}/line` says how far it has moved. */
            line?: {
                /** @description When tickets are first given out. */
                tickets_from: components["schemas"]["Moment"];
            };
        };
        /** @description A sale as everybody sees it. */
        Card: components["schemas"]["SaleOnOffer"];
        MembersSales: {
            server_time: components["schemas"]["Moment"];
            sales: components["schemas"]["Card"][];
        };
        SalePage: {
            description?: components["schemas"]["Description"];
            pictures?: components["schemas"]["Pictures"];
            terms_url?: components["schemas"]["TermsUrl"];
            server_time: components["schemas"]["Moment"];
        } & components["schemas"]["SaleOnOffer"];
        RainChange: {
            round: components["schemas"]["Round"];
            rain: components["schemas"]["Rain"];
        };
        Restock: {
            round: components["schemas"]["Round"];
            /** @description Together with the round's units at most 10,000,000. */
            units: number;
        };
        AfterPrize: {
            /** @description The number of a prize; 0 begins with the first. */
            after: number;
        };
        Resent: {
            sent: number;
            /** @description Absent once no more prizes follow. */
            next_after?: number;
        };
        Redriven: {
            moved: number;
            may_be_more: boolean;
        };
        Count: number;
        Live: {
            /** Format: date-time */
            server_time: string;
            sale_id: components["schemas"]["SaleId"];
            round: number;
            /** @enum {unknown} */
            state: "draft" | "upcoming" | "open" | "paused" | "closed";
            /** @description Whether operators have stopped it or everything. */
            stopped: boolean | null;
            /** @description Also null while the round is not loaded. */
            units: components["schemas"]["LiveUnits"] | null;
            /** @description Lanes that do not answer, or that Redis has lost. Their units count as held, and their answers are not included. Absent if there are none. */
            unknown_lanes?: number[];
            /** @description The round of drand whose beacon must be posted. Only while the draw, or loading the round, waits for it. */
            awaits_beacon?: components["schemas"]["DrandRound"];
            /** @description How often each answer was given since the round was loaded, by code; `accepted` got a unit, `challenged` a challenge and `admitted` a token. A second old; counts that a process had not written when it ended are missing. */
            answers: {
                [key: string]: number;
            } | null;
            queues: components["schemas"]["LiveQueue"][];
        };
        /** @description The places add up to the total. */
        LiveUnits: {
            total: number;
            free: components["schemas"]["Count"];
            /** @description How many of the free units are still to become available. Only in a round with a plan. */
            to_drop?: components["schemas"]["Count"];
            /** @description Taken and not known to be ordered. Null in a round of more than 10,000 units, like the next three. */
            held: components["schemas"]["Count"] | null;
            /** @description Ordered and not paid; in a sale without payment, granted. */
            ordered: components["schemas"]["Count"] | null;
            paid: components["schemas"]["Count"] | null;
            /**
             * Format: date-time
             * @description When orders and payments were read; `total` and `free` are current.
             */
            as_of: string | null;
        };
        LiveQueue: {
            /** @enum {unknown} */
            queue: "orders" | "expiry" | "quarantine";
            waiting: number | null;
            /** @description Not due yet. */
            delayed: number | null;
            /** @description Being processed. */
            in_flight: number | null;
            /** @description Dead letters. */
            dead: number | null;
            /** @description How long the oldest reservation of this sale has waited for its order. */
            oldest_s: number | null;
        };
        Audit: {
            /** @description Every unit is in exactly one place, and the awards of the orders add up. */
            clean: boolean;
            /** @description Whether Redis has the round. If not, units of an open round without an order are lost until the round is loaded again; those of a round that is over are free, that is, unsold. */
            in_redis: boolean;
            /**
             * @description True if the round's own total is unknown and the offer's is used instead: Redis has lost the round, and it ended before rounds were kept.
             * @constant
             */
            total_is_assumed?: true;
            total: number;
            free: components["schemas"]["Count"];
            held: components["schemas"]["Count"];
            ordered: components["schemas"]["Count"];
            oversold: components["schemas"]["Count"];
            lost: components["schemas"]["Count"];
            duplicated: components["schemas"]["Count"];
            /** @description Units that are not in exactly one place. */
            discrepancies: components["schemas"]["Discrepancy"][];
            awarded?: components["schemas"]["Awarded"];
        };
        /** @description What the live orders of a round with awards have won, counted from the orders alone. */
        Awarded: {
            orders: components["schemas"]["Count"];
            /** @description Orders without an award, or with one that no unit of the round can have. */
            contradictions: number;
            /** @description In minor units of the round's currency, if its units are parts of an amount. */
            amount?: components["schemas"]["Tally"];
            /** @description One for each kind of prize, in the order of the sale's prizes. */
            prizes?: components["schemas"]["Tally"][];
            /** @description Tickets that win nothing. Absent in a draw at the end. */
            blanks?: components["schemas"]["Tally"];
            /** @description The entries that the draw at the end has counted, once they have closed. There must be as many orders. */
            entries?: components["schemas"]["Count"];
        };
        /** @description How much there is, how much orders have, and how much is left. The last two add up to the first. */
        Tally: {
            total: number;
            awarded: number;
            /** @description Below 0 if orders have more than there is, which makes the audit fail. */
            unclaimed: number;
        };
        Discrepancy: {
            unit: number;
            /** @enum {unknown} */
            wrong: "oversold" | "lost" | "duplicated";
            /** @description Every place where the unit was found, in words. */
            found: string[];
            /** @description When the oldest reservation involved was made, in milliseconds since the Unix epoch. */
            since_ms?: number;
            /** @description How reconciliation repairs it. */
            repairs: components["schemas"]["Repair"][];
        };
        Repair: {
            /** @description Tell Redis about the order that has the unit. */
            adopt?: {
                id: components["schemas"]["ReservationId"];
            };
            /** @description Release a reservation whose order has ended. */
            release?: {
                id: components["schemas"]["ReservationId"];
                unit: number;
            };
            /** @description Give back units that are in no place. */
            restore?: {
                units: components["schemas"]["Unit"][];
            };
            /** @description Take units that two lanes have out of both, so they can be given back. */
            exclude?: {
                units: components["schemas"]["Unit"][];
            };
            /** @description Load a round again that Redis has lost. */
            rebuild?: Record<string, never>;
        };
        /** @description What every problem has, by RFC 9457. */
        Problem: {
            status: number;
            title: string;
            code: string;
            /** @description More about this case, for people. */
            detail?: string;
        };
        InvalidRequest: {
            /** @constant */
            code?: "invalid_request";
            /** @constant */
            status?: 400;
            /** @description What is wrong with each field of the body. For a new sale, all errors are listed at once. The first one is also the `detail`. */
            errors?: {
                /**
                 * @example title
                 * @example door.strikes
                 */
                field: string;
                detail: string;
            }[];
        } & components["schemas"]["Problem"];
        Unauthorized: {
            /** @constant */
            code?: "unauthorized";
            /** @constant */
            status?: 401;
        } & components["schemas"]["Problem"];
        BadToken: {
            /** @constant */
            code?: "bad_token";
            /** @constant */
            status?: 403;
        } & components["schemas"]["Problem"];
        /** @description The answer is wrong, and the challenge is used up. Ask for a new one. */
        WrongAnswer: {
            /** @constant */
            code?: "wrong_answer";
            /** @constant */
            status?: 403;
        } & components["schemas"]["Problem"];
        /** @description This user has no such challenge: it expired or was used. Ask for a new one; this does not count against the user. */
        ChallengeOver: {
            /** @constant */
            code?: "challenge_over";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        /** @description As many of the user's reservations in this round have ended unpaid as the sale allows. */
        UnpaidLimit: {
            /** @constant */
            code?: "unpaid_limit";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        Denied: {
            /** @constant */
            code?: "denied";
            /** @constant */
            status?: 403;
        } & components["schemas"]["Problem"];
        NotAMember: {
            /** @constant */
            code?: "not_a_member";
            /** @constant */
            status?: 403;
        } & components["schemas"]["Problem"];
        /** @description The sale has a line, and the request has no ticket of this user for its round. */
        NoTicket: {
            /** @constant */
            code?: "no_ticket";
            /** @constant */
            status?: 403;
            tickets_path: string;
        } & components["schemas"]["Problem"];
        /** @description The user is in line. Get the line again, and retry once it admits the ticket. */
        NotYourTurn: {
            /** @constant */
            code?: "not_your_turn";
            /** @constant */
            status?: 409;
            line_path: string;
            /** @description Whom the `front` in the request admits. Absent if the request had none. */
            admitted?: {
                early_ppb: components["schemas"]["PartsPerBillion"];
                late_until: components["schemas"]["Moment"] | null;
                late_ppb: components["schemas"]["PartsPerBillion"];
            };
        } & components["schemas"]["Problem"];
        UnknownSale: {
            /** @constant */
            code?: "unknown_sale";
            /** @constant */
            status?: 404;
        } & components["schemas"]["Problem"];
        UnknownCampaign: {
            /** @constant */
            code?: "unknown_campaign";
            /** @constant */
            status?: 404;
        } & components["schemas"]["Problem"];
        CampaignChanged: {
            /** @constant */
            code?: "campaign_changed";
            /** @constant */
            status?: 409;
            /** @description The current version. */
            version: number;
        } & components["schemas"]["Problem"];
        UnknownReservation: {
            /** @constant */
            code?: "unknown_reservation";
            /** @constant */
            status?: 404;
        } & components["schemas"]["Problem"];
        UnknownRefund: {
            /** @constant */
            code?: "unknown_refund";
            /** @constant */
            status?: 404;
        } & components["schemas"]["Problem"];
        UnknownRoute: {
            /** @constant */
            code?: "unknown_route";
            /** @constant */
            status?: 404;
        } & components["schemas"]["Problem"];
        SoldOut: {
            /** @constant */
            code?: "sold_out";
            /** @constant */
            status?: 409;
            /** @description When the next units become available, because the round's plan has more to come or because what is left is set aside for a group until then. */
            next_release_at?: components["schemas"]["Moment"];
        } & components["schemas"]["Problem"];
        LimitReached: {
            /** @constant */
            code?: "limit_reached";
            /** @constant */
            status?: 409;
            /** @description The user's reservations. */
            reservation_ids: components["schemas"]["ReservationId"][];
        } & components["schemas"]["Problem"];
        NotOpen: {
            /** @constant */
            code?: "not_open";
            /** @constant */
            status?: 409;
            opens_at: components["schemas"]["Moment"];
        } & components["schemas"]["Problem"];
        NotCancellable: {
            /** @constant */
            code?: "not_cancellable";
            /** @constant */
            status?: 409;
            reservation_status: components["schemas"]["ReservationStatus"];
        } & components["schemas"]["Problem"];
        SaleExists: {
            /** @constant */
            code?: "sale_exists";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        SaleChanged: {
            /** @constant */
            code?: "sale_changed";
            /** @constant */
            status?: 409;
            /** @description The current `version` or, for a round, `round_version`. */
            version: number;
        } & components["schemas"]["Problem"];
        NotAmendable: {
            /** @constant */
            code?: "not_amendable";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        WrongBeacon: {
            /** @constant */
            code?: "wrong_beacon";
            /** @constant */
            status?: 422;
        } & components["schemas"]["Problem"];
        RoundChanged: {
            /** @constant */
            code?: "round_changed";
            /** @constant */
            status?: 409;
            /** @description The running round. */
            round: components["schemas"]["Round"];
        } & components["schemas"]["Problem"];
        KeyReused: {
            /** @constant */
            code?: "key_reused";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        Closed: {
            /** @constant */
            code?: "closed";
            /** @constant */
            status?: 410;
        } & components["schemas"]["Problem"];
        TooLarge: {
            /** @constant */
            code?: "too_large";
            /** @constant */
            status?: 413;
        } & components["schemas"]["Problem"];
        UnsupportedMediaType: {
            /** @constant */
            code?: "unsupported_media_type";
            /** @constant */
            status?: 415;
        } & components["schemas"]["Problem"];
        RateLimited: {
            /** @constant */
            code?: "rate_limited";
            /** @constant */
            status?: 429;
        } & components["schemas"]["Problem"];
        Internal: {
            /** @constant */
            code?: "internal";
            /** @constant */
            status?: 500;
        } & components["schemas"]["Problem"];
        Paused: {
            /** @constant */
            code?: "paused";
            /** @constant */
            status?: 503;
        } & components["schemas"]["Problem"];
        Overloaded: {
            /** @constant */
            code?: "overloaded";
            /** @constant */
            status?: 503;
        } & components["schemas"]["Problem"];
        /** @description This user has the unit, but the queue does not have the reservation yet. */
        NotSent: {
            /** @constant */
            code?: "overloaded";
            /** @constant */
            status?: 503;
            reservation_id: components["schemas"]["ReservationId"];
        } & components["schemas"]["Problem"];
    };
    responses: {
        /** @description The client's copy is current. */
        Unchanged: {
            headers: {
                "Cache-Control": components["headers"]["Shared-Cache-Control"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description There is no campaign to change. */
        UnknownCampaign: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 404,
                 *       "title": "There is no such campaign",
                 *       "code": "unknown_campaign"
                 *     }
                 */
                "application/problem+json": components["schemas"]["UnknownCampaign"];
            };
        };
        /** @description The sale as it is now. */
        Sale: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Sale"];
            };
        };
        /** @description The request does not match this document. */
        InvalidRequest: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 400,
                 *       "title": "The request is not valid",
                 *       "code": "invalid_request",
                 *       "detail": "the body is not a JSON object"
                 *     }
                 */
                "application/problem+json": components["schemas"]["InvalidRequest"];
                /**
                 * @example {
                 *       "message": "Bad Request"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The token is missing or invalid. From the system itself, its subject cannot be a user id. */
        Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Unauthorized"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
                /**
                 * @example {
                 *       "status": 401,
                 *       "title": "The request is not authenticated",
                 *       "code": "unauthorized"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Unauthorized"];
            };
        };
        /** @description The gateway refuses the request. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Forbidden"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The user may not do this. */
        Denied: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 403,
                 *       "title": "Not allowed",
                 *       "code": "denied"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Denied"];
                /**
                 * @example {
                 *       "message": "Forbidden"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description There is no such sale or round. */
        UnknownSale: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 404,
                 *       "title": "There is no such sale",
                 *       "code": "unknown_sale"
                 *     }
                 */
                "application/problem+json": components["schemas"]["UnknownSale"];
                /**
                 * @example {
                 *       "message": "Not Found"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description This user has no such reservation. The answer is the same if somebody else has it. */
        UnknownReservation: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 404,
                 *       "title": "There is no such reservation",
                 *       "code": "unknown_reservation"
                 *     }
                 */
                "application/problem+json": components["schemas"]["UnknownReservation"];
                /**
                 * @example {
                 *       "message": "Not Found"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The sale is a draft, has not opened yet or is over; another round is running; or the key was used for another request. */
        NotSteered: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["NotAmendable"] | components["schemas"]["RoundChanged"] | components["schemas"]["KeyReused"];
            };
        };
        /** @description The state of the sale does not allow it. */
        NotAmendable: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 409,
                 *       "title": "The state of the sale does not allow it",
                 *       "code": "not_amendable",
                 *       "detail": "it was withdrawn"
                 *     }
                 */
                "application/problem+json": components["schemas"]["NotAmendable"];
            };
        };
        /**
         * @description Somebody has changed it since; it cannot be changed (in this way) any more; another round is running; or the key was
         *     used for another request.
         */
        NotEdited: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["SaleChanged"] | components["schemas"]["NotAmendable"] | components["schemas"]["RoundChanged"] | components["schemas"]["KeyReused"];
            };
        };
        /** @description The sale is over. */
        Closed: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 410,
                 *       "title": "The sale is over",
                 *       "code": "closed"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Closed"];
            };
        };
        /** @description The body has more than 16,384 bytes. The gateway itself takes 10 MB. */
        TooLarge: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 413,
                 *       "title": "The body is too large",
                 *       "code": "too_large",
                 *       "detail": "at most 16384 bytes"
                 *     }
                 */
                "application/problem+json": components["schemas"]["TooLarge"];
                /**
                 * @example {
                 *       "message": "Request Entity Too Large"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The body has more than 519,024 bytes. The gateway itself takes 10 MB. */
        UsersTooLarge: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 413,
                 *       "title": "The body is too large",
                 *       "code": "too_large",
                 *       "detail": "at most 519024 bytes"
                 *     }
                 */
                "application/problem+json": components["schemas"]["TooLarge"];
                /**
                 * @example {
                 *       "message": "Request Entity Too Large"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The body has more than 10 MB. */
        GatewayTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Request Entity Too Large"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The request line and the headers together have more than 10,240 bytes. */
        UriTooLong: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "URI Too Long"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The content type of the body is not JSON. */
        UnsupportedMediaType: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 415,
                 *       "title": "The body must be application/json",
                 *       "code": "unsupported_media_type"
                 *     }
                 */
                "application/problem+json": components["schemas"]["UnsupportedMediaType"];
            };
        };
        /** @description Too many requests from this user or address or, if the gateway says so, from everybody together. */
        RateLimited: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                /** @description Seconds to wait before trying again. */
                "Retry-After"?: number;
                /** @description What is left of the user's own quota, and in how many seconds it is refilled (draft-ietf-httpapi-ratelimit-headers). Not sent if the limit of the address or of everybody was reached. */
                RateLimit?: string;
                /** @description The quota and its window in seconds. Sent with RateLimit. */
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 429,
                 *       "title": "Too many requests",
                 *       "code": "rate_limited"
                 *     }
                 */
                "application/problem+json": components["schemas"]["RateLimited"];
                /**
                 * @example {
                 *       "message": "Too Many Requests"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description Too many requests from everybody together. */
        GatewayTooMany: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Too Many Requests"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description An error in the system, or what it keeps cannot be right. Trying again does not help. */
        Failed: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Internal Server Error"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
                /**
                 * @example {
                 *       "status": 500,
                 *       "title": "Something went wrong",
                 *       "code": "internal"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Internal"];
            };
        };
        /** @description A part of the system does not answer, or the sale is being restored. */
        Overloaded: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                "Retry-After": components["headers"]["Retry-After-Unavailable"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 503,
                 *       "title": "Try again in a moment",
                 *       "code": "overloaded"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Overloaded"];
                /**
                 * @example {
                 *       "message": "Service Unavailable"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The request does not match this document. */
        "Shared-InvalidRequest": {
            headers: {
                "Cache-Control": components["headers"]["Absent-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 400,
                 *       "title": "The request is not valid",
                 *       "code": "invalid_request",
                 *       "detail": "the body is not a JSON object"
                 *     }
                 */
                "application/problem+json": components["schemas"]["InvalidRequest"];
                /**
                 * @example {
                 *       "message": "Bad Request"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description There is no such sale or round. */
        "Shared-UnknownSale": {
            headers: {
                "Cache-Control": components["headers"]["Absent-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 404,
                 *       "title": "There is no such sale",
                 *       "code": "unknown_sale"
                 *     }
                 */
                "application/problem+json": components["schemas"]["UnknownSale"];
                /**
                 * @example {
                 *       "message": "Not Found"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description An error in the system. */
        "Shared-Failed": {
            headers: {
                "Cache-Control": components["headers"]["Absent-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Internal Server Error"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
                /**
                 * @example {
                 *       "status": 500,
                 *       "title": "Something went wrong",
                 *       "code": "internal"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Internal"];
            };
        };
        /** @description A part of the system does not answer, or the sale is being restored. */
        "Shared-Overloaded": {
            headers: {
                "Cache-Control": components["headers"]["Absent-Cache-Control"];
                "Retry-After": components["headers"]["Retry-After-Unavailable"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 503,
                 *       "title": "Try again in a moment",
                 *       "code": "overloaded"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Overloaded"];
                /**
                 * @example {
                 *       "message": "Service Unavailable"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
        /** @description The sale is paused, or a part of the system does not answer. */
        PausedOrOverloaded: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                "Retry-After": components["headers"]["Retry-After-Unavailable"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 503,
                 *       "title": "The sale is paused",
                 *       "code": "paused"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Paused"] | components["schemas"]["Overloaded"];
                /**
                 * @example {
                 *       "message": "Service Unavailable"
                 *     }
                 */
                "application/json": components["schemas"]["GatewayMessage"];
            };
        };
    };
    parameters: {
        /** @description The sale's id. */
        sale_id: components["schemas"]["SaleId"];
        /** @description The number of a round that has begun. */
        round: number;
        /** @description The token that this user got for a challenge, at most five minutes ago. */
        token: components["schemas"]["Token"];
        /** @description The id of a reservation, and of the order that it becomes. */
        reservation_id: components["schemas"]["ReservationId"];
        /**
         * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
         *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
         */
        "Idempotency-Key": components["schemas"]["IdempotencyKey"];
        /** @description The user's `ticket`, for a sale with a line. */
        "X-Line-Ticket": components["schemas"]["Sealed"];
        /** @description For a sale with a line, a `front` of the line from any time at which it already admitted the user. */
        "X-Line-Front": components["schemas"]["Sealed"];
        /** @description The `ETag` of the client's copy. */
        "If-None-Match": string;
    };
    requestBodies: {
        /** @description The round that the request refers to. */
        InRound: {
            content: {
                /**
                 * @example {
                 *       "round": 1
                 *     }
                 */
                "application/json": components["schemas"]["InRound"];
            };
        };
        /** @description Nothing, or an empty object. */
        Nothing: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
    };
    headers: {
        /** @description Must not be cached. */
        "Cache-Control": "no-store";
        /** @description Must not be cached. */
        "Problem-Cache-Control": "no-store";
        /** @description Shared caches may keep it for a second. */
        "Shared-Cache-Control": "public, max-age=0, s-maxage=1, stale-if-error=30";
        /** @description Everybody may keep it for a second. */
        "Line-Cache-Control": "public, max-age=1, stale-if-error=30";
        /** @description Shared caches may keep it for a second while it can change, and for a day afterwards. */
        "Draw-Cache-Control": "public, max-age=0, s-maxage=1, stale-if-error=30" | "public, max-age=0, s-maxage=86400";
        /** @description Shared caches may keep it for a second. */
        "Absent-Cache-Control": "public, max-age=0, s-maxage=1";
        /** @description The same for the same content; `server_time` does not count. */
        ETag: string;
        /** @description Seconds until the opening or `next_release_at`; 300 at most. */
        "Retry-After-Opening": number;
        /** @description Seconds to wait before trying again with a ticket. */
        "Retry-After-Ticket": number;
        /** @description Seconds to wait before trying again. */
        "Retry-After-Unavailable": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listCampaigns: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaigns that have a published sale. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Shared-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "campaigns": []
                     *     }
                     */
                    "application/json": components["schemas"]["CampaignList"];
                };
            };
            304: components["responses"]["Unchanged"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listPublishedSales: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sales and the campaigns. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Shared-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "sales": [],
                     *       "campaigns": []
                     *     }
                     */
                    "application/json": components["schemas"]["PublishedSaleList"];
                };
            };
            304: components["responses"]["Unchanged"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description The campaign's id. */
                campaign_id: components["schemas"]["CampaignId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Shared-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "campaign_id": "autumn",
                     *       "title": "Autumn",
                     *       "sales": []
                     *     }
                     */
                    "application/json": components["schemas"]["CampaignPage"];
                };
            };
            304: components["responses"]["Unchanged"];
            400: components["responses"]["InvalidRequest"];
            /** @description There is no such campaign. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Absent-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such campaign",
                     *       "code": "unknown_campaign"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownCampaign"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtSaleOnOffer: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sale. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Shared-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "sale_id": "lamp",
                     *       "title": "A lamp",
                     *       "round": 1,
                     *       "state": "open",
                     *       "opens_at": "2026-11-24T09:00:00Z",
                     *       "closes_at": "2026-11-24T10:00:00Z",
                     *       "price_minor": 990,
                     *       "currency": "EUR",
                     *       "per_user_limit": 1,
                     *       "payment_window_s": 900,
                     *       "settlement": "paid",
                     *       "availability": "few_left"
                     *     }
                     */
                    "application/json": components["schemas"]["SalePage"];
                };
            };
            304: components["responses"]["Unchanged"];
            400: components["responses"]["InvalidRequest"];
            /** @description There is no such sale. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Absent-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such sale",
                     *       "code": "unknown_sale"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownSale"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtDraw: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The draw. Shared caches may keep it for a second, and for a day once it no longer changes. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Draw-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draw"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Draw-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            /** @description There is no such round, or it has no draw. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Absent-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such sale",
                     *       "code": "unknown_sale",
                     *       "detail": "the round has no draw"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownSale"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
                /** @description The chunk's index, from 0. */
                chunk: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. They never change, so shared caches may keep them for a day. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Draw-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "chunk": 0,
                     *       "units": [
                     *         3
                     *       ],
                     *       "leaves": [
                     *         "7d470f53df78554673708502ce5088e8600ef615f98db318b3025f423b63a353"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DrawEntries"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Draw-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            /** @description There is no such round or chunk, the round is not drawn at its end, or its entries have not closed. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Absent-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such sale",
                     *       "code": "unknown_sale",
                     *       "detail": "the draw has no such entries"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownSale"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    getTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description The user's ticket. Send it with requests for a challenge or a token. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            /** @description There are no tickets yet. `opens_at` is when the first ones are given out. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Opening"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "The sale has not opened yet",
                     *       "detail": "opens_at: when tickets for the sale's line are first given out",
                     *       "code": "not_open",
                     *       "opens_at": "2026-11-24T08:00:00.000Z"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotOpen"];
                };
            };
            410: components["responses"]["Closed"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtLine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The line of the sale's latest round. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Line-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Line"];
                };
            };
            400: components["responses"]["Shared-InvalidRequest"];
            404: components["responses"]["Shared-UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Shared-Failed"];
            503: components["responses"]["Shared-Overloaded"];
        };
    };
    askForChallenge: {
        parameters: {
            query?: never;
            header?: {
                /** @description The user's `ticket`, for a sale with a line. */
                "X-Line-Ticket"?: components["parameters"]["X-Line-Ticket"];
                /** @description For a sale with a line, a `front` of the line from any time at which it already admitted the user. */
                "X-Line-Front"?: components["parameters"]["X-Line-Front"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        /** @description Without `kind`, the sale's first kind is used. A kind that the sale does not offer is refused. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChallengeRequest"];
            };
        };
        responses: {
            /**
             * @description A challenge for this user. It can be answered once. The user's other challenges stay valid. A challenge of the
             *     kind `none` asks nothing: its id alone gets the token.
             */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Challenge"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description The user or the address is denied, or the user has no ticket for the sale's line. */
            403: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Ticket"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 403,
                     *       "title": "Not allowed",
                     *       "code": "denied"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Denied"] | components["schemas"]["NoTicket"];
                    /**
                     * @example {
                     *       "message": "Forbidden"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            404: components["responses"]["UnknownSale"];
            /** @description Too early. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Opening"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "The sale has not opened yet",
                     *       "code": "not_open",
                     *       "opens_at": "2026-11-24T09:00:00.000Z"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotOpen"] | components["schemas"]["NotYourTurn"];
                };
            };
            410: components["responses"]["Closed"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["PausedOrOverloaded"];
        };
    };
    answerChallenge: {
        parameters: {
            query?: never;
            header?: {
                /** @description The user's `ticket`, for a sale with a line. */
                "X-Line-Ticket"?: components["parameters"]["X-Line-Ticket"];
                /** @description For a sale with a line, a `front` of the line from any time at which it already admitted the user. */
                "X-Line-Front"?: components["parameters"]["X-Line-Front"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChallengeAnswer"];
            };
        };
        responses: {
            /** @description The token, which only this user can use. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "AQEAAAAAAQAAAaIMyI77Bw4VHCMqMTg_Rk1UW2JpcHd-hYyTmqGor7a9xMvS2eA",
                     *       "expires_at": "2026-11-24T09:05:00Z",
                     *       "reserve_path": "/v1/sales/lamp/reservations/AQEAAAAAAQAAAaIMyI77Bw4VHCMqMTg_Rk1UW2JpcHd-hYyTmqGor7a9xMvS2eA"
                     *     }
                     */
                    "application/json": components["schemas"]["Admission"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description The answer is wrong, the user or the address is denied, the user is in none of the groups that may buy, or has no ticket for the sale's line. */
            403: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Ticket"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 403,
                     *       "title": "That is not the right answer",
                     *       "code": "wrong_answer"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["WrongAnswer"] | components["schemas"]["Denied"] | components["schemas"]["NotAMember"] | components["schemas"]["NoTicket"];
                    /**
                     * @example {
                     *       "message": "Forbidden"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            404: components["responses"]["UnknownSale"];
            /** @description Too early, too late, or the challenge is over. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Opening"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "The sale has not opened yet",
                     *       "code": "not_open",
                     *       "opens_at": "2026-11-24T09:00:00.000Z"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotOpen"] | components["schemas"]["SoldOut"] | components["schemas"]["ChallengeOver"] | components["schemas"]["NotYourTurn"];
                };
            };
            410: components["responses"]["Closed"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["PausedOrOverloaded"];
        };
    };
    lookAtSaleReservations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reservations. The list may be empty. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sale_id": "lamp",
                     *       "round": 1,
                     *       "reservations": [
                     *         {
                     *           "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *           "status": "queued",
                     *           "unit": 7,
                     *           "reserved_at": "2026-11-24T09:00:00.123Z",
                     *           "poll_after_ms": 500
                     *         }
                     *       ],
                     *       "poll_after_ms": 500
                     *     }
                     */
                    "application/json": components["schemas"]["SaleReservations"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    reserve: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The token that this user got for a challenge, at most five minutes ago. */
                token: components["parameters"]["token"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /**
             * @description This user has the unit, and the order queue has the reservation. A retry with the same key gets the same answer,
             *     whichever token it carries. Without a key, the token is the key.
             *
             *     The answer does not say what the unit has won in a round with awards: until the order is written, the reservation
             *     may still get another unit. `GET /v1/reservations/{reservation_id}` and the push message have the award as soon as
             *     the order exists.
             */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    /** @description The path of the reservation. */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *       "status": "queued"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description The token belongs to somebody else or has expired, or the user is denied. */
            403: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 403,
                     *       "title": "This pass is not yours or has expired",
                     *       "code": "bad_token"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["BadToken"] | components["schemas"]["Denied"];
                    /**
                     * @example {
                     *       "message": "Forbidden"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            /** @description There is no unit for this user at the moment. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Opening"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["SoldOut"] | components["schemas"]["LimitReached"] | components["schemas"]["UnpaidLimit"] | components["schemas"]["NotOpen"];
                };
            };
            410: components["responses"]["Closed"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            /**
             * @description The sale is paused, or a part of the system does not answer. If `reservation_id` is present, the user already has
             *     the unit: send the same request again to get it ordered.
             */
            503: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After-Unavailable"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 503,
                     *       "title": "The sale is paused",
                     *       "code": "paused"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Paused"] | components["schemas"]["Overloaded"] | components["schemas"]["NotSent"];
                    /**
                     * @example {
                     *       "message": "Service Unavailable"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
        };
    };
    lookAtReservation: {
        parameters: {
            query?: {
                /** @description Whether to write the order of a queued reservation at once. It is written in any case. */
                expedite?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description The id of a reservation, and of the order that it becomes. */
                reservation_id: components["parameters"]["reservation_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reservation's status. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownReservation"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    cancelReservation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a reservation, and of the order that it becomes. */
                reservation_id: components["parameters"]["reservation_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description It is cancelled. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *       "status": "cancelled",
                     *       "unit": 7,
                     *       "reserved_at": "2026-11-24T09:00:00.123Z",
                     *       "ended_at": "2026-11-24T09:01:00.456Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Reservation"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownReservation"];
            /** @description It is paid, granted, expired or failed. A reservation in a sale without payment is final, even while it is queued. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "It cannot be cancelled",
                     *       "code": "not_cancellable",
                     *       "reservation_status": "paid"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotCancellable"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listMembersSales: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sales, the first to open first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "sales": []
                     *     }
                     */
                    "application/json": components["schemas"]["MembersSales"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtMembersSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sale. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "sale_id": "lamp",
                     *       "title": "A lamp",
                     *       "round": 1,
                     *       "state": "open",
                     *       "opens_at": "2026-11-24T09:00:00Z",
                     *       "closes_at": "2026-11-24T10:00:00Z",
                     *       "price_minor": 990,
                     *       "currency": "EUR",
                     *       "per_user_limit": 1,
                     *       "payment_window_s": 900,
                     *       "settlement": "paid",
                     *       "availability": "few_left"
                     *     }
                     */
                    "application/json": components["schemas"]["SalePage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: components["schemas"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "orders": []
                     *     }
                     */
                    "application/json": components["schemas"]["Orders"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    tellOfPayment: {
        parameters: {
            query?: never;
            header: {
                /** @description The message's id. Part of what is signed. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since the Unix epoch; at most five minutes ago. Part of what is signed. */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "payment.succeeded",
                 *       "timestamp": "2026-11-24T09:01:00Z",
                 *       "data": {
                 *         "payment_id": "pay_4711",
                 *         "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                 *         "price_minor": 990,
                 *         "currency": "EUR"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Callback"];
            };
        };
        responses: {
            /** @description What happened to the payment, or that the event was ignored. Repeating it changes nothing. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *       "outcome": "applied"
                     *     }
                     */
                    "application/json": components["schemas"]["PaymentOutcome"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            /** @description The signature is wrong or too old. */
            401: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 401,
                     *       "title": "The request is not authenticated",
                     *       "code": "unauthorized"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Unauthorized"];
                };
            };
            404: components["responses"]["UnknownReservation"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listCampaignsToChange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaigns. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaigns"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    putCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "campaign_id": "autumn",
                 *       "title": "Autumn",
                 *       "sale_ids": [
                 *         "lamp"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["NewCampaign"];
            };
        };
        responses: {
            /** @description The campaign was changed, or had been written by an earlier request. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "campaign_id": "autumn",
                     *       "title": "Autumn",
                     *       "sale_ids": [
                     *         "lamp"
                     *       ],
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Campaign"];
                };
            };
            /** @description The campaign was created. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "campaign_id": "autumn",
                     *       "title": "Autumn",
                     *       "sale_ids": [
                     *         "lamp"
                     *       ],
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Campaign"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownCampaign"];
            /** @description Somebody else has changed it since. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "Somebody else has changed it",
                     *       "code": "campaign_changed",
                     *       "version": 3
                     *     }
                     */
                    "application/problem+json": components["schemas"]["CampaignChanged"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listSales: {
        parameters: {
            query?: {
                /**
                 * @description `published` has not opened for anybody, `open` can be bought from unless it is paused or stopped, `ended` means
                 *     that the latest round is over, and `withdrawn` sales were taken back before they opened.
                 */
                state?: "draft" | "published" | "open" | "ended" | "withdrawn";
                /** @description The `next_cursor` of the previous page. Only valid with the same state. */
                cursor?: string;
                /** @description The largest number of sales on the page. Only valid with a state. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sales. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sales"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    createSale: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSale"];
            };
        };
        responses: {
            /** @description An earlier request created the same sale. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sale"];
                };
            };
            /** @description The sale was created. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sale_id": "lamp",
                     *       "state": "draft",
                     *       "round": 1,
                     *       "version": 1,
                     *       "paused": false,
                     *       "title": "A lamp",
                     *       "opens_at": "2099-01-01T00:00:00Z",
                     *       "closes_at": "2099-01-31T00:00:00Z",
                     *       "total": 100,
                     *       "per_user_limit": 1,
                     *       "price_minor": 990,
                     *       "currency": "EUR",
                     *       "payment_window_s": 900,
                     *       "door": {
                     *         "strikes": 10,
                     *         "strike_window_s": 600,
                     *         "denied_for_s": 3600,
                     *         "unpaid_limit": 3
                     *       },
                     *       "allocation": {
                     *         "kind": "units"
                     *       },
                     *       "settlement": "paid"
                     *     }
                     */
                    "application/json": components["schemas"]["Sale"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            /** @description Another sale has this id. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "Another sale has this id",
                     *       "code": "sale_exists"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["SaleExists"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sale as it is now, and its log. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoggedSale"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    deleteSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description The draft was deleted. */
            204: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotAmendable"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    editSale: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaleEdit"];
            };
        };
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotEdited"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    withdrawSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    duplicateSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sale_id": "lantern",
                 *       "opens_at": "2099-03-01T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["SaleCopy"];
            };
        };
        responses: {
            /** @description An earlier request created the same draft. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sale"];
                };
            };
            /** @description The draft was created. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sale"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            /** @description Another sale has this id. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "Another sale has this id",
                     *       "code": "sale_exists"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["SaleExists"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    watchSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where the units are, which answers people get, and what is queued. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_time": "2026-11-24T09:00:05.123Z",
                     *       "sale_id": "lamp",
                     *       "round": 1,
                     *       "state": "open",
                     *       "stopped": false,
                     *       "units": {
                     *         "total": 100,
                     *         "free": 12,
                     *         "held": 8,
                     *         "ordered": 50,
                     *         "paid": 30,
                     *         "as_of": "2026-11-24T09:00:03.005Z"
                     *       },
                     *       "answers": {
                     *         "accepted": 88,
                     *         "admitted": 310,
                     *         "challenged": 402,
                     *         "not_open": 95
                     *       },
                     *       "queues": [
                     *         {
                     *           "queue": "orders",
                     *           "waiting": 6,
                     *           "delayed": 0,
                     *           "in_flight": 2,
                     *           "dead": 0,
                     *           "oldest_s": 1
                     *         },
                     *         {
                     *           "queue": "expiry",
                     *           "waiting": 0,
                     *           "delayed": 80,
                     *           "in_flight": 0,
                     *           "dead": 0,
                     *           "oldest_s": null
                     *         },
                     *         {
                     *           "queue": "quarantine",
                     *           "waiting": null,
                     *           "delayed": null,
                     *           "in_flight": null,
                     *           "dead": 0,
                     *           "oldest_s": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Live"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    publishSale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotAmendable"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    pauseSale: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["InRound"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    resumeSale: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["InRound"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    closeSale: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["InRound"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    restockSale: {
        parameters: {
            query?: never;
            header: {
                /** @description The delivery's id. A retry with the same id adds nothing. */
                "Idempotency-Key": components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "round": 1,
                 *       "units": 50
                 *     }
                 */
                "application/json": components["schemas"]["Restock"];
            };
        };
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    changeRain: {
        parameters: {
            query?: never;
            header: {
                /** @description The change's id. A retry with the same id adds nothing. */
                "Idempotency-Key": components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "round": 1,
                 *       "rain": {
                 *         "at_once": 10,
                 *         "steady": {
                 *           "units": 5,
                 *           "every_s": 1
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RainChange"];
            };
        };
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    postBeacon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "signature": "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
                 *     }
                 */
                "application/json": components["schemas"]["NewBeacon"];
            };
        };
        responses: {
            /** @description The round has the beacon. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sale_id": "tickets",
                     *       "round": 1,
                     *       "drand": {
                     *         "chain_hash": "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
                     *         "round": 1000,
                     *         "at": "2023-08-23T15:59:24Z"
                     *       },
                     *       "beacon": {
                     *         "signature": "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
                     *         "randomness": "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PostedBeacon"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            /** @description The draw uses no beacon, or it is a draw at the end whose entries have not closed, so no round of drand is named yet. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "The state of the sale does not allow it",
                     *       "code": "not_amendable",
                     *       "detail": "the draw of this round uses no beacon"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotAmendable"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description This is not the signature of the named round of drand. Nothing was changed. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 422,
                     *       "title": "This is not the beacon of this draw",
                     *       "code": "wrong_beacon",
                     *       "detail": "not the signature of drand's round 1000"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["WrongBeacon"];
                };
            };
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    auditRound: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many units are in each place, and every unit that is not in exactly one. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "clean": true,
                     *       "in_redis": true,
                     *       "total": 100,
                     *       "free": 90,
                     *       "held": 4,
                     *       "ordered": 6,
                     *       "oversold": 0,
                     *       "lost": 0,
                     *       "duplicated": 0,
                     *       "discrepancies": []
                     *     }
                     */
                    "application/json": components["schemas"]["Audit"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    resendWinners: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "after": 0
                 *     }
                 */
                "application/json": components["schemas"]["AfterPrize"];
            };
        };
        responses: {
            /** @description How many winners were sent. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sent": 997,
                     *       "next_after": 1000
                     *     }
                     */
                    "application/json": components["schemas"]["Resent"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    exportOrders: {
        parameters: {
            query?: {
                /** @description The format of the rows. */
                format?: "csv" | "jsonl";
                /** @description Where the page begins. Take it from the `Link` header of the previous page, which has the whole path. */
                cursor?: components["schemas"]["ExportCursor"];
            };
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    /** @description The path of the next page (RFC 8288). The last page has none. */
                    Link?: string;
                    /** @description How many rows the page has, not counting the header row. */
                    "Export-Rows": number;
                    /** @description Roughly how many rows all pages have. Only on the first page. */
                    "Export-Rows-About"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /** @example lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff,lamp,1,alice,17,paid,990,EUR,,,,2026-11-24T09:00:00.123Z,2026-11-24T09:00:00.456Z,2026-11-24T09:15:00.456Z,2026-11-24T09:01:00.000Z,,pay_4711, */
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    reportRound: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: components["schemas"]["ExportCursor"];
            };
            header?: never;
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
                /** @description The number of a round that has begun. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the totals. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sale_id": "lamp",
                     *       "round": 1,
                     *       "title": "A lamp",
                     *       "opens_at": "2026-11-24T09:00:00Z",
                     *       "closes_at": "2026-11-24T10:00:00Z",
                     *       "total": 100,
                     *       "currency": "EUR",
                     *       "settlement": "paid",
                     *       "as_of": "2026-11-24T10:05:00Z",
                     *       "orders": {
                     *         "pending_payment": 0,
                     *         "granted": 0,
                     *         "paid": 96,
                     *         "expired": 12,
                     *         "cancelled": 3,
                     *         "failed": 0
                     *       },
                     *       "revenue_minor": 95040,
                     *       "refunds": {
                     *         "EUR": {
                     *           "due": 1,
                     *           "due_minor": 990,
                     *           "made": 2,
                     *           "made_minor": 1980
                     *         }
                     *       },
                     *       "last_kept_at": "2026-11-24T09:02:11.482Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Report"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    findOrders: {
        parameters: {
            query?: {
                /** @description The sale. Required unless a user is given. */
                sale?: components["schemas"]["SaleId"];
                /** @description The sale's round. */
                round?: number;
                /** @description Only orders in this state. */
                state?: components["schemas"]["OrderState"];
                /** @description Only orders of this user. */
                user?: components["schemas"]["UserId"];
                /** @description Only orders that were written at this time or later. */
                from?: components["schemas"]["Moment"];
                /** @description Only orders that were written before this time. */
                to?: components["schemas"]["Moment"];
                /** @description The `next_cursor` of the previous page of the same query. `limit` may differ. */
                cursor?: components["schemas"]["OrdersCursor"];
                /** @description The largest number of orders on a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "orders": []
                     *     }
                     */
                    "application/json": components["schemas"]["AdminOrders"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    lookAtOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a reservation, and of the order that it becomes. */
                reservation_id: components["parameters"]["reservation_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order as last written, and everything the ledger knows about it. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *       "sale_id": "lamp",
                     *       "round": 1,
                     *       "user": "alice",
                     *       "unit": 17,
                     *       "state": "expired",
                     *       "price_minor": 990,
                     *       "currency": "EUR",
                     *       "reserved_at": "2026-11-24T09:00:00.123Z",
                     *       "ordered_at": "2026-11-24T09:00:00.456Z",
                     *       "pay_by": "2026-11-24T09:15:00.456Z",
                     *       "ended_at": "2026-11-24T09:15:02.007Z",
                     *       "refund": "refunded",
                     *       "payments": [
                     *         {
                     *           "payment_id": "pay_4711",
                     *           "outcome": "refunded",
                     *           "price_minor": 990,
                     *           "currency": "EUR",
                     *           "noted_at": "2026-11-24T09:16:00Z",
                     *           "refunded_at": "2026-11-24T12:00:00Z",
                     *           "refunded_by": "olga"
                     *         }
                     *       ],
                     *       "history": [
                     *         {
                     *           "at": "2026-11-24T09:00:00.123Z",
                     *           "event": "reserved"
                     *         },
                     *         {
                     *           "at": "2026-11-24T09:00:00.456Z",
                     *           "event": "ordered"
                     *         },
                     *         {
                     *           "at": "2026-11-24T09:15:02.007Z",
                     *           "event": "expired"
                     *         },
                     *         {
                     *           "at": "2026-11-24T09:16:00Z",
                     *           "event": "refund_due",
                     *           "payment_id": "pay_4711"
                     *         },
                     *         {
                     *           "at": "2026-11-24T12:00:00Z",
                     *           "event": "refunded",
                     *           "payment_id": "pay_4711",
                     *           "by": "olga"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OrderHistory"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            /** @description There is no such order. A reservation that is still queued has none yet. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such reservation",
                     *       "code": "unknown_reservation"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownReservation"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listRefunds: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: components["schemas"]["RefundsCursor"];
                /** @description The largest number of refunds on a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of refunds. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "refunds": []
                     *     }
                     */
                    "application/json": components["schemas"]["Refunds"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    markRefunded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "payment_id": "pay_4711"
                 *     }
                 */
                "application/json": components["schemas"]["MarkRefunded"];
            };
        };
        responses: {
            /** @description The payment is marked, by this request or by an earlier one. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "payment_id": "pay_4711",
                     *       "reservation_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
                     *       "user": "alice",
                     *       "order_state": "expired",
                     *       "price_minor": 990,
                     *       "currency": "EUR",
                     *       "due_at": "2026-11-24T09:16:00Z",
                     *       "refunded_at": "2026-11-24T12:00:00Z",
                     *       "refunded_by": "olga",
                     *       "changed": true
                     *     }
                     */
                    "application/json": components["schemas"]["MarkedRefund"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            /** @description There is no such payment, or its order accepted it. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is no such refund",
                     *       "code": "unknown_refund"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownRefund"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    isolateSale: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "round": 1,
                 *       "requests_per_s": 500
                 *     }
                 */
                "application/json": components["schemas"]["Isolation"];
            };
        };
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    endRecurrence: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The id of the attempt. A retry with the same key reserves nothing more. Without a key the token identifies the
                 *     attempt: a second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The sale's id. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["InRound"];
        responses: {
            200: components["responses"]["Sale"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            409: components["responses"]["NotSteered"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    switches: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is stopped at the moment. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stopped": false,
                     *       "stopped_sales": [
                     *         "lamp"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Switches"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    stop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sale_id": "lamp"
                 *     }
                 */
                "application/json": components["schemas"]["Which"];
            };
        };
        responses: {
            /** @description What is stopped at the moment. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stopped": false,
                     *       "stopped_sales": [
                     *         "lamp"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Switches"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    start: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sale_id": "lamp"
                 *     }
                 */
                "application/json": components["schemas"]["Which"];
            };
        };
        responses: {
            /** @description What is stopped at the moment. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stopped": false,
                     *       "stopped_sales": [
                     *         "lamp"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Switches"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            404: components["responses"]["UnknownSale"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listDenied: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Those denied for longest come first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "denied": [
                     *         {
                     *           "user": "mallory",
                     *           "until": "2026-12-01T00:00:00Z",
                     *           "reason": "asked",
                     *           "by": "operators"
                     *         }
                     *       ],
                     *       "denied_networks": [
                     *         {
                     *           "network": "192.0.2.0/24",
                     *           "until": "2026-12-01T00:00:00Z",
                     *           "reason": "asked",
                     *           "by": "operators",
                     *           "operator": "olga",
                     *           "at": "2026-11-24T09:00:00Z",
                     *           "note": "bots"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Denials"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    deny: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDenial"];
            };
        };
        responses: {
            /** @description The denial. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": "mallory",
                     *       "until": "2026-12-01T00:00:00Z",
                     *       "reason": "asked",
                     *       "by": "operators"
                     *     }
                     */
                    "application/json": components["schemas"]["Denial"] | components["schemas"]["NetworkDenial"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    allowNamed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Allowed"];
            };
        };
        responses: {
            /** @description The denials that are left. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "denied": [],
                     *       "denied_networks": []
                     *     }
                     */
                    "application/json": components["schemas"]["Denials"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    allow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user. `POST /v1/admin/allow` also takes ids that do not fit into a path, such as those with a slash. */
                user: components["schemas"]["UserId"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description The denials that are left. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "denied": [],
                     *       "denied_networks": []
                     *     }
                     */
                    "application/json": components["schemas"]["Denials"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    listGroup: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: components["schemas"]["UserId"];
            };
            header?: never;
            path: {
                /** @description The group. */
                group: components["schemas"]["GroupName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of up to 1,000 users in no particular order. A group without users is an empty list. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group": "members",
                     *       "users": [
                     *         "alice",
                     *         "bob"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GroupPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["GatewayTooLarge"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    addToGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group. */
                group: components["schemas"]["GroupName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "users": [
                 *         "alice",
                 *         "bob"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GroupUsers"];
            };
        };
        responses: {
            /** @description The users are in the group. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group": "members",
                     *       "users": 2
                     *     }
                     */
                    "application/json": components["schemas"]["GroupWritten"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["UsersTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    removeFromGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group. */
                group: components["schemas"]["GroupName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "users": [
                 *         "alice",
                 *         "bob"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GroupUsers"];
            };
        };
        responses: {
            /** @description The users are not in the group. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group": "members",
                     *       "users": 2
                     *     }
                     */
                    "application/json": components["schemas"]["GroupWritten"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            413: components["responses"]["UsersTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
    redrive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The queue whose dead letters are sent back. */
                queue: "orders" | "expiry" | "winners" | "webhook" | "quarantine";
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /**
             * @description How many dead letters were sent back, and whether there may be more: a request stops after some seconds, and
             *     messages that somebody else has received come back later. Ask again then.
             */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "moved": 3,
                     *       "may_be_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["Redriven"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Denied"];
            /** @description There is no such queue. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "title": "There is nothing here",
                     *       "code": "unknown_route"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["UnknownRoute"];
                    /**
                     * @example {
                     *       "message": "Not Found"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayMessage"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["GatewayTooMany"];
            500: components["responses"]["Failed"];
            503: components["responses"]["Overloaded"];
        };
    };
}
type WithRequired<T, K extends keyof T> = T & {
    [P in K]-?: T[P];
};
