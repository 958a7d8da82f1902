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
         * List what a shop has on its first page
         * @description Every published sale, in a campaign or not, and the campaigns. At most 100 sales: those that are open, the first to close first; then those to come, the first to open first; then those that were over within the last day.
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
        /** Look at a campaign and its sales */
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
        /** Look at a published sale */
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
         * Get all that checks the draw of a round
         * @description What each unit of the round won follows from `allocation`, `units` and `seed` (docs/draws.md). `commitment` is public from
         *     the publication on; `seed` is one minute after the round has closed, and then anybody can check that it is the one that was
         *     committed to.
         *     Of a draw at the end, `at_end` has the number of entries and their root once these have closed; the winners follow from
         *     seed and entries, and each gets the prize in the minutes after that.
         *     If `label` is `beacon`, the randomness of a round of drand is mixed with the seed. `drand` names the round before it comes:
         *     with the publication, or of a draw at the end with the root of its entries. `beacon` is its signature, once posted.
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
         * Get some of the entries of a draw at the end
         * @description The entries in the order of their numbers, 4,096 in each chunk, once they have closed. The root in the draw is that of
         *     the Merkle tree over all `leaves` (docs/draws.md). Only who knows a reservation's id can tell which leaf is its own.
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
         * @description For a sale with a line, from `tickets_from` on until it closes. A place belongs to the user and not to the request: whoever
         *     asks again, from whatever device, is where they were. Before the opening it does not matter when somebody asks.
         *     `docs/line.md` says how a place follows from a ticket.
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
         * See how far the line of a sale has moved
         * @description The same for everybody. A client computes its own place from `seed` and its user's id, and is admitted once the numbers of
         *     `admitted` are beyond it. `docs/line.md` says how.
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
         * @description From the opening on, a right answer gives the token that a reservation asks for. The same right answer, sent again
         *     within ten seconds, gives the same token. Only a wrong answer to an existing challenge counts against the user, and
         *     once however often it is sent. A sale that asks nothing (`gate.challenge` is `none`) gives the token for an empty body, or
         *     for the id of a challenge of the kind `none`, by which a repeated request gets the same token.
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
         * Find what one has in a sale
         * @description One's own reservations in the sale's latest round, the newest first, also while they are queued. For a lost tab or answer: it
         *     needs no reservation's id.
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
        /** Look at a reservation of one's own */
        get: operations["lookAtReservation"];
        put?: never;
        post?: never;
        /**
         * Give a reservation back
         * @description One that was cancelled before is answered alike.
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
         * List the sales that one sees as a member
         * @description Those of which `gate.groups_see` names a group of the caller's, by the token's claim or a list; a change of a list is seen
         *     within half a minute. Sales that everybody sees are not among them.
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
         * Look at a published sale as a member
         * @description The card of a sale that the caller may see, or of one that everybody sees. To anybody else it does not exist.
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
        /** List one's own orders, the newest first */
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
         * Tell of a payment
         * @description Signed as Standard Webhooks (https://www.standardwebhooks.com) says, by HMAC-SHA256. Can be sent again.
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
         * Create or change a campaign
         * @description All of it at once. Without a version it is a new one; with one, that version is changed. Its sales exist, as drafts at
         *     least.
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
         * List sales by their state
         * @description Without parameters: every published sale that is not over. With a state, a page of those that are in it: `ended` ones by
         *     their end, the newest first, the others by their end, the first to close first. A page may be short, or empty, and
         *     have a `next_cursor`. It may lag a moment behind, and a sale whose end is moved meanwhile may be missed or come twice.
         *     A draft that an earlier version wrote is found once it is changed again.
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
        /** Look at a sale */
        get: operations["lookAtSale"];
        put?: never;
        post?: never;
        /**
         * Delete a draft
         * @description A published sale is withdrawn, or its round is closed, and stays. Asked again, the answer is 404: it is gone. Its id is
         *     free then.
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
         * Change a draft, the rounds to come, or the latest round
         * @description The body has what is to be changed, and which version of it was seen. With `version`, that of the sale, it changes the
         *     draft; of a published sale that comes again, what the rounds to come offer, which is `rounds_to_come` if that is
         *     something else than the latest round does. With `round` and `round_version` it changes what this round offers.
         *     If somebody has changed it since, the answer is 409 `sale_changed` with the version that it has now, and nothing is
         *     written. What a round may still change depends on how far it is; each field says so, and what cannot be changed is
         *     409 `not_amendable` with its name and the reason. What nobody could sell by is 400. Redis hears of it at once, or from
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
         * Take a published sale back before anybody could buy
         * @description It stays withdrawn: it is in no list of the public, nobody can publish, edit or steer it, and no other sale gets its id.
         *     Only before its first round opens for anybody. A round that is loaded is paused in Redis first; if a unit was handed
         *     out by then, it goes on selling and the answer is 409. If Redis does not answer, the answer is 503, and the round is
         *     paused: ask again.
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
         * Make a draft that offers what this sale does
         * @description Its terms and its recurrence are the sale's: of one that was published and does not come again as they were then, with
         *     the title and the door that its round has now. With `opens_at` alone it lasts as long; without both, its window
         *     is the same, which must not be over.
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
         * Look at the running round, every second if one likes
         * @description A part of the system that does not answer leaves null where its figures would be.
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
         * @description It is loaded into Redis within a minute, from ten minutes before it opens. One that is published stays so, and one that
         *     was withdrawn as well.
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
         * Stop selling for a while
         * @description The body names the round that the request is about. If another one runs, nothing is changed.
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
         * Go on selling
         * @description A round that is over is not resumed.
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
         * @description One that has ended keeps its end.
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
         * Add units to this round
         * @description A round that is over takes none.
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
         * Change when the units of this round become available
         * @description The new plan takes the place of the one in force, from now on. What is available stays so, and what the new plan has
         *     `at_once` is added to it. A round that was loaded without a plan gets none: all of its units are available.
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
         * Post the beacon that the draw of a round waits for
         * @description Drand's signature of the round that the draw has named, as `https://api.drand.sh/CHAIN_HASH/public/ROUND` and other relays
         *     have it from that round's moment on. It is checked with drand's public key. A round that opens with its beacon is loaded in
         *     the minute after this; a draw at the end goes on in the minute after. The same beacon again is as good as once.
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
        /** Say where every unit of a round is */
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
         * @description For a draw that was done before the deployment had a gift service. Looks at a thousand prizes after the one with the
         *     number `after`; `next_after` says where the next request goes on. Who was notified is not sent, and whoever is told
         *     of twice has the same `Idempotency-Key`, so it can be repeated.
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
         * @description A page of up to 1,000 rows, in no order that means anything: sort by `ordered_at`. `Link` leads to the next page; the last one has none. All pages together are
         *     the orders that were made until the first page was asked for, each once; one that was made in the second before may be
         *     missing, since the index lags. Each row is as it is when its page is read. Orders of versions before this one are missing.
         *
         *     CSV is as RFC 4180 says, with the line of columns on the first page alone. A cell that begins with `=`, `+`, `-`, `@`, a
         *     tab, a carriage return or a line feed has a `'` in front of it, so that no spreadsheet takes it for a formula. A line of
         *     JSON Lines is an `AdminOrder`.
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
         * Sum up what became of a round
         * @description Sums over the round's orders as they are now: how many are in each state, revenue and refunds. A page sums up to 1,000 orders;
         *     add the sums of all pages, and take the latest `last_kept_at`. All pages together are the orders that were made until the first page
         *     was asked for, `as_of`, each once; one that was made in the second before may be missing. Orders of versions before
         *     this one are missing.
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
         * Find orders, the newest first
         * @description Of a sale or of a user, or of a user in a sale. A sale without a round is its latest round, or the whole sale where a user is
         *     named as well. A parameter that is not known is refused, since a filter with a slip in its name would be none.
         *
         *     With `state`, or a user and a sale, one request looks at some 1,000 orders at most: a page may have fewer than `limit`, or
         *     none, and still a `next_cursor`. A reservation whose order is not written yet is in no list. An order of the second before
         *     may be missing, since the indexes lag; one of a version before this one is found by its user alone.
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
        /** Look at an order, its payments and what happened when */
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
         * List payments that are to be given back, the longest due first
         * @description Payments that came for an order that could not take them: it had ended, was paid by another payment, or costs something
         *     else. A payment that a version before this one noted is listed once its callback comes again; its order says `refund` all
         *     the same, and it can be marked.
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
         * Mark a payment as given back
         * @description Once. A second request changes nothing and says who marked it and when. The system moves no money, and the order's state
         *     stays as it is; its user no longer reads `refund_due`.
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
         * Let a sale have no more than so many requests a second
         * @description So that the others have what they need. This many challenges, this many answers and this many reservations of the
         *     sale reach Redis in a second, in all processes together; the rest hears 429. A wrong answer does not count. Every
         *     process hears of it within five seconds. Null lifts it.
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
         * @description The round goes on, and no other one begins after it. A sale that comes no more stays so.
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
        /** See what is stopped */
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
         * @description Nobody is let in and nobody reserves until it is started again. It holds within five seconds.
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
         * Undo a stop of the same
         * @description Starting everything leaves alone what was stopped by itself. A sale that is started sells nothing as long as
         *     everything is stopped, which the answer's `stopped` says.
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
        /** List everybody, and every address and network, that is shut out now */
        get: operations["listDenied"];
        put?: never;
        /**
         * Shut a user, an address or a network out until a moment
         * @description The same again changes nothing; another moment replaces it. That of a user holds in every loaded sale when this is
         *     answered. If Redis did not answer, the log says so, and it holds within a minute. That of an address or a network holds
         *     within seconds, in challenges, tokens and reservations; 200 can be denied at once.
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
         * Let a user, an address or a network in again, shut out or not
         * @description A network that is let in does not let in another one that it is in. A user is named here whatever the id.
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
        /** Let a user in again, shut out or not */
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
         * Put users into a group
         * @description One who is in it stays in it, so the same request can be sent again. A list of a million users is a thousand requests.
         *     Groups that a token names need no list.
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
         * Take users out of a group
         * @description A way in that such a user has been given before holds until it is over: five minutes at most.
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
        /** Send dead letters back to where they came from */
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
        /** @description Letters are small; it does not begin with a hyphen. */
        SaleId: string;
        /** @description `SALE.ROUND.UUID` */
        ReservationId: string;
        /** @description URL-safe Base64 without padding. What is in it is not for the client. */
        Token: string;
        /** @description Printable ASCII without spaces. */
        IdempotencyKey: string;
        /** @description What it says is not for the client. */
        Cursor: string;
        /** Format: date-time */
        Moment: string;
        /** @description An ISO 4217 code. */
        Currency: string;
        /** @description One numbered piece of a round's stock. */
        Unit: number;
        Nothing: Record<string, never>;
        /** @description What API Gateway says itself. */
        GatewayMessage: {
            message: string | null;
        };
        ChallengeRequest: {
            /**
             * @description Proof of work is for people who cannot see a picture. A sale that asks nothing gives a challenge of the kind `none`, whatever
             *     was asked for.
             * @enum {unknown}
             */
            kind?: "picture" | "work" | "none";
        };
        Challenge: components["schemas"]["PictureChallenge"] | components["schemas"]["WorkChallenge"] | components["schemas"]["NoChallenge"];
        /** @description What the sale offers, the usual one first. Versions before this one did not say it; their sales offer both. */
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
            /** @description The answer is a text for which the SHA-256 of `CHALLENGE_ID:ANSWER` begins with so many zero bits. */
            work: {
                bits: number;
            };
            expires_at: components["schemas"]["Moment"];
        };
        /** @description The sale asks nothing. */
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
        /** @description Both, unless the sale asks nothing. */
        ChallengeAnswer: {
            challenge_id?: components["schemas"]["ChallengeId"];
            /** @description 64 bytes at most. */
            answer?: string;
        };
        Admission: {
            token: components["schemas"]["Token"];
            expires_at: components["schemas"]["Moment"];
            /** @description Where to reserve. */
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
        /** @description Milliseconds after which to look again. Whoever looks at this pace is not rate limited. Absent if nothing more happens to it. */
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
         * @description A payment came that the order could not take.
         * @constant
         */
        RefundDue: true;
        /** @description Its order is not written yet, and it may still get another unit. So it has no award. */
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
        /** @description It waits for its payment. */
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
         * @description Nothing is to be paid, and it is final: it can neither be cancelled nor expire. In a round with awards, `award` is what
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
        /** @description It takes part in a draw that is still to come. The unit is its number. */
        EnteredAward: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "entered";
        };
        /** @description Cancelled before its order was written, it has no price. */
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
        /** @description Its order could not be made. */
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
             * @description `entries_closed`: it came after the draw of its round had begun, since a part of the system had failed for long.
             * @enum {unknown}
             */
            reason: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            refund_due?: components["schemas"]["RefundDue"];
        };
        Orders: {
            /** @description At most 20 orders, and on the first page before them all reservations that are queued. */
            orders: components["schemas"]["Reservation"][];
            /** @description There is more. */
            next_cursor?: components["schemas"]["Cursor"];
        };
        /**
         * @description What its user reads as `status`.
         * @enum {unknown}
         */
        OrderState: "pending_payment" | "granted" | "paid" | "expired" | "cancelled" | "failed";
        /** @description The provider's name of a payment. */
        PaymentId: string;
        /** @description What it says is not for the client. */
        OrdersCursor: string;
        /** @description What it says is not for the client. */
        ExportCursor: string;
        /** @description What it says is not for the client. */
        RefundsCursor: string;
        /** @description An order as operators see it. One that was never made has neither a price nor `pay_by`. */
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
            /** @description When it was paid, expired or cancelled, or failed. */
            ended_at?: components["schemas"]["Moment"];
            /**
             * @description Why it failed.
             * @enum {unknown}
             */
            reason?: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            /** @description The payment that it took. */
            payment_id?: components["schemas"]["PaymentId"];
            /**
             * @description Of payments that it could not take: `due` while one of them at least is to be given back, `refunded` once all are marked.
             * @enum {unknown}
             */
            refund?: "due" | "refunded";
        };
        AdminOrders: {
            orders: components["schemas"]["AdminOrder"][];
            /** @description There is more. */
            next_cursor?: components["schemas"]["OrdersCursor"];
        };
        /** @description A page of what became of a round. */
        Report: {
            sale_id: components["schemas"]["SaleId"];
            round: components["schemas"]["Round"];
            title: components["schemas"]["Title"];
            opens_at: components["schemas"]["Moment"];
            closes_at: components["schemas"]["Moment"];
            total: number;
            currency: components["schemas"]["Currency"];
            settlement: components["schemas"]["Settlement"];
            /** @description The orders that were made until then are summed up, on all pages. */
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
            /** @description What the paid orders of this page cost, in minor units of `currency`. */
            revenue_minor: number;
            /** @description Payments that orders of this page could not take, by their currency. */
            refunds: {
                [key: string]: {
                    due: number;
                    due_minor: number;
                    made: number;
                    made_minor: number;
                };
            };
            /** @description When the last unit was reserved of those that have an order now. A page without such an order has none. */
            last_kept_at?: components["schemas"]["Moment"];
            next_cursor?: components["schemas"]["ExportCursor"];
        };
        /** @description An order, its payments, and what happened when. */
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
            /** @description When it was paid, expired or cancelled, or failed. */
            ended_at?: components["schemas"]["Moment"];
            /**
             * @description Why it failed.
             * @enum {unknown}
             */
            reason?: "sold_out" | "limit_reached" | "campaign_limit" | "entries_closed" | "unknown_sale" | "dead_letter";
            /** @description The payment that it took. */
            payment_id?: components["schemas"]["PaymentId"];
            /**
             * @description Of payments that it could not take: `due` while one of them at least is to be given back, `refunded` once all are marked.
             * @enum {unknown}
             */
            refund?: "due" | "refunded";
            payments: {
                payment_id: components["schemas"]["PaymentId"];
                /**
                 * @description The order took it, or could not and it is to be given back, or it was given back.
                 * @enum {unknown}
                 */
                outcome: "applied" | "refund_due" | "refunded";
                price_minor?: number;
                currency?: components["schemas"]["Currency"];
                noted_at?: components["schemas"]["Moment"];
                refunded_at?: components["schemas"]["Moment"];
                refunded_by?: components["schemas"]["UserId"];
            }[];
            /** @description In the order of time. */
            history: {
                at: components["schemas"]["Moment"];
                /**
                 * @description `ordered` is when the order was written, and `granted` when it was written as final. An order that was never made
                 *     has neither.
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
            /** @description Whose order it is. */
            user?: components["schemas"]["UserId"];
            order_state?: components["schemas"]["OrderState"];
            /** @description What was paid. */
            price_minor: number;
            currency: components["schemas"]["Currency"];
            /** @description When it was noted. */
            due_at: components["schemas"]["Moment"];
            refunded_at?: components["schemas"]["Moment"];
            /** @description The operator who marked it. */
            refunded_by?: components["schemas"]["UserId"];
        };
        Refunds: {
            refunds: components["schemas"]["Refund"][];
            /** @description There is more. */
            next_cursor?: components["schemas"]["RefundsCursor"];
        };
        MarkRefunded: {
            payment_id: components["schemas"]["PaymentId"];
        };
        /** @description A refund that is marked. */
        MarkedRefund: components["schemas"]["Refund"];
        Callback: components["schemas"]["PaymentSucceeded"] | components["schemas"]["OtherEvent"];
        /** @description A payment that the provider took. Fields that are not listed are ignored. */
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
        /** @description Anything else that the provider tells of. It is answered and ignored. */
        OtherEvent: {
            type: string;
        };
        PaymentOutcome: {
            reservation_id?: components["schemas"]["ReservationId"];
            /**
             * @description `applied`: the order is paid by it. `refund_due`: the order could not take the payment; give it back.
             *     `payment_reused`: the payment was for another reservation before, and nothing is written. `amount_changed`: the
             *     payment came for this reservation before, with another amount, and nothing is written. `ignored`: the event is of a
             *     type that is nothing to this system.
             * @enum {unknown}
             */
            outcome: "applied" | "refund_due" | "payment_reused" | "amount_changed" | "ignored";
        };
        /** @description What a unit stands for. */
        Allocation: components["schemas"]["UnitsAllocation"] | components["schemas"]["SplitAllocation"] | components["schemas"]["PrizesAllocation"];
        /** @description The same item, whichever unit it is. */
        UnitsAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "units";
        };
        /**
         * @description A part of an amount of money, in the currency of the price: a red packet. The sale has 1,000,000 units at most, and the
         *     amount is at least `min_minor` for each of them.
         */
        SplitAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "split";
            total_minor: number;
            /** @description The least that a part may be. */
            min_minor: number;
            /**
             * @description `equal` parts differ by one minor unit at most, `drawn` ones by chance.
             * @enum {unknown}
             */
            parts: "equal" | "drawn";
            beacon?: components["schemas"]["WithBeacon"];
        };
        /**
         * @description A ticket, which has won a prize or nothing. The sale has 1,000,000 units at most, and there are no more prizes than units.
         *     An instant draw tells each ticket at once what it won: who knows the seed could know before the end which ticket wins, and
         *     that is the operator alone. Drawn at the end, tickets are entries, and the prizes go to some of them.
         */
        PrizesAllocation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "prizes";
            prizes: {
                name: components["schemas"]["PrizeName"];
                /** @description How many tickets win it. */
                count: number;
            }[];
            /**
             * @description When it is decided who wins.
             * @default instant
             * @enum {unknown}
             */
            draw: "instant" | "at_end";
            beacon?: components["schemas"]["WithBeacon"];
        };
        /**
         * @description Whether the randomness of a round of drand, which is named before it comes, is mixed with the seed. Not with equal parts. A
         *     round with awards that are known at once is not loaded before an operator has posted its beacon, so nobody can buy before;
         *     such a sale cannot recur.
         * @default false
         */
        WithBeacon: boolean;
        DrandRound: {
            /** @description Names drand's chain, quicknet. */
            chain_hash: components["schemas"]["Digest"];
            round: number;
            /** @description When it comes, a minute or a little more after it was named. */
            at: components["schemas"]["Moment"];
        };
        /** @description Drand's signature of a round, as it lists it. */
        Signature: string;
        Beacon: {
            signature: components["schemas"]["Signature"];
            /** @description SHA-256 of the signature; what is mixed with the seed. */
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
        /** @description For people. No control characters. */
        PrizeName: string;
        /**
         * @description What makes an order final: `paid`, a payment within `payment_window_s`; `free`, that it is written. A free order can
         *     neither be cancelled nor expire, and `price_minor` is 0. A sale whose allocation is not `units` is free, with a
         *     `per_user_limit` of 1.
         * @enum {unknown}
         */
        Settlement: "paid" | "free";
        /** @description 32 bytes in hexadecimal. */
        Digest: string;
        /**
         * @description `commitment_only`: the seed alone decides who wins what. Whoever drew it was bound to it from the publication on, and could
         *     have drawn again before that. `beacon`: a round of drand decides it as well, whose randomness nobody knew by then.
         * @enum {unknown}
         */
        DrawLabel: "commitment_only" | "beacon";
        /** @description What is drawn, and what the operator is bound to. */
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
             * @description The version of docs/draws.md.
             * @constant
             */
            encoding: 1;
            currency: components["schemas"]["Currency"];
            closes_at: components["schemas"]["Moment"];
            /** @description From when on the seed is here, or a little later. */
            reveals_at: components["schemas"]["Moment"];
            /** @description The round of drand whose beacon is mixed with the seed. Of a draw at the end, once its entries have closed. */
            drand?: components["schemas"]["DrandRound"];
            /** @description The beacon, once it is posted. */
            beacon?: components["schemas"]["Beacon"];
            /** @description Not before the round is over; of a draw at the end, not before its entries have closed. */
            seed?: components["schemas"]["Digest"];
            /** @description How far a draw at the end is. Instant ones have none. */
            at_end?: {
                /**
                 * @description `open`: entries may come. `awaiting_beacon`: they are counted, and who wins is known once the beacon is posted.
                 *     `closed`: they are counted, and the winners get their prizes one by one. `drawn`: all winners have them.
                 * @enum {unknown}
                 */
                state: "open" | "awaiting_beacon" | "closed" | "drawn";
                /** @description The entries, once they have closed. */
                closed?: {
                    at: components["schemas"]["Moment"];
                    entries: number;
                    /** @description Of the Merkle tree over the entries. */
                    root: components["schemas"]["Digest"];
                    /** @constant */
                    entries_per_chunk: 4096;
                    /** @description The first thousand, the first prize first. The others follow from seed and number of entries. */
                    winners: {
                        /** @description Which of the prizes, from 1. */
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
            /** @description The first moment at which everyone can buy it. */
            opens_at: components["schemas"]["Moment"];
            /** @description The first moment at which it can no longer be bought; at most 31 days after `opens_at`. */
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
             * @description Who may buy before everyone else. A group is one that a token names, or a list of users. `closes_at` is at most 31
             *     days after the first group may buy, and units can be set aside for one group. Not together with `rain`.
             */
            early_access?: components["schemas"]["EarlyAccess"][];
            line?: components["schemas"]["LineTerms"];
            lanes?: components["schemas"]["Lanes"];
        };
        /**
         * @description When units become available. Without it all of them are at the opening. What has not dropped before the round closes
         *     is not sold.
         */
        Rain: {
            /**
             * @description Available at the opening; of a plan that was changed since, when it was changed.
             * @default 0
             */
            at_once: number;
            /** @description A steady rate, from one interval after the opening on. */
            steady?: {
                units: number;
                every_s: number;
            };
            /** @description The others, the first one first. */
            drops?: {
                /** @description Seconds after the opening. */
                after_s: number;
                units: number;
            }[];
        };
        /**
         * @description The line in front of a sale that expects more people than can be served at once. Not together with `early_access`, nor with
         *     `gate.groups_see`.
         */
        LineTerms: {
            /**
             * @description How many seconds before `opens_at` there are tickets. Of a round it is promised.
             * @default 3600
             */
            opens_early_s: number;
            /** @description How many people are admitted every second while units are free. A new line needs it. */
            admits_per_s?: number;
            /**
             * @description Whether it is held up. Who was admitted stays so.
             * @default false
             */
            paused: boolean;
        };
        /** @description What this system has sealed. Nobody else reads it. */
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
            /** @description The second in which a late one came. */
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
             * @description `before` the opening; `moving`; `paused` by operators; `sold_out` while no unit is free, which can change as long as
             *     `units.may_return` is not 0, or if operators add units; `ended`.
             * @enum {unknown}
             */
            state: "before" | "moving" | "paused" | "sold_out" | "ended";
            /** @description What the round published of its seed before anybody came. */
            commitment: string;
            /** @description What the order follows from. Null before the opening. */
            seed: string | null;
            opens_at: components["schemas"]["Moment"];
            tickets_from: components["schemas"]["Moment"];
            people: {
                /** @description About how many came before the opening. */
                estimate: components["schemas"]["LineCount"];
                /** @description How far the estimate may be off. */
                error_percent: components["schemas"]["LineCount"];
                /** @description How many came after it. */
                late: components["schemas"]["LineCount"];
            };
            admitted: {
                /** @description Everybody early whose place, in parts per billion, is below this. */
                early_ppb: components["schemas"]["PartsPerBillion"];
                /** @description Once all early ones are admitted, everybody who came before this second. */
                late_until: components["schemas"]["Moment"] | null;
                /** @description And everybody who came in this second whose place is below this. */
                late_ppb: components["schemas"]["PartsPerBillion"];
                /** @description How many late ones that is, as far as they are counted. */
                late: components["schemas"]["LineCount"];
                /** @description People a second while units are free; 0 while it is held up. */
                per_s: components["schemas"]["LineCount"];
                as_of: components["schemas"]["Moment"];
            };
            units: {
                total: components["schemas"]["LineCount"];
                /** @description Units that somebody has, paid or not. */
                sold: components["schemas"]["LineCount"];
                /** @description How many of them may come back, at most. */
                may_return: components["schemas"]["LineCount"];
            };
            /** @description When to look again; 0 if nothing changes any more, since the sale is over. */
            poll_after_ms: components["schemas"]["LineCount"];
            /** @description What who is admitted shows with the ticket. Null before the opening. */
            front: components["schemas"]["Sealed"] | null;
        };
        EarlyAccess: {
            group: components["schemas"]["GroupName"];
            /** @description How many seconds before `opens_at` the group may buy. */
            lead_s: number;
            /** @description So many units are only for this group until so many seconds after `opens_at`. Then they are everyone's. */
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
        /** @description Who is kept away from a sale, and how many are expected at it. */
        DoorTerms: {
            /**
             * @description So many, within the window, and a user is shut out.
             * @default 10
             */
            strikes: number;
            /** @default 600 */
            strike_window_s: number;
            /** @default 3600 */
            denied_for_s: number;
            /**
             * @description So many reservations of a user in a round may end unpaid, by cancelling or not paying. Then the user gets no more.
             * @default 3
             */
            unpaid_limit: number;
            planned_requests_per_s?: number;
        };
        /** @description What the gate of a sale asks, and whom it lets see the sale and buy. */
        GateTerms: {
            /**
             * @description Which challenges are offered: `any` (a picture, or work for whoever cannot see it), `picture`, `work`, or `none`, where a
             *     pass is given without a question. Rates, denials and openings hold in each case.
             * @default any
             * @enum {unknown}
             */
            challenge: "any" | "picture" | "work" | "none";
            /**
             * @description Zero bits that a proof of work begins with. One more is twice the work; 20 are one to a few seconds of a telephone.
             * @default 20
             */
            work_bits: number;
            /**
             * @description The groups that may see the sale, by the token's claim or a list. Nobody else can tell it from a sale that does not exist, and
             *     it is in no public document: members find it with `GET /v1/members/sales`. Everybody may see it if there are none. Not
             *     together with awards, whose draw is public.
             */
            groups_see?: components["schemas"]["GroupName"][];
            /**
             * @description The groups that may buy. Others see the sale, and get no pass (`not_a_member`). Everybody who sees it may buy if there are
             *     none.
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
         * @description What is to be changed, each field as in a new sale, and which version was seen: `version` alone for a draft or the rounds
         *     to come, `round` with `round_version` for a round. Of a draft and of the rounds to come every field can be changed,
         *     unless it says otherwise; of a round that is over none.
         */
        SaleEdit: {
            /** @description The `version` that was seen. */
            version?: number;
            /** @description The latest round. */
            round?: components["schemas"]["Round"];
            /** @description The `round_version` that was seen. */
            round_version?: number;
            /** @description Of a round until it is over. */
            title?: components["schemas"]["Title"];
            /** @description Of a round until it is over, as the next four. */
            description?: components["schemas"]["Description"];
            pictures?: components["schemas"]["Pictures"];
            /** @description Null takes it away. */
            list_price_minor?: components["schemas"]["ListPrice"] | null;
            /** @description Null takes it away. */
            terms_url?: components["schemas"]["TermsUrl"] | null;
            /** @description Null takes it away. */
            expected_audience?: components["schemas"]["ExpectedAudience"] | null;
            /** @description Of a round until it is loaded, from ten minutes before it opens. Of the rounds to come, the next one opens one recurrence later. */
            opens_at?: components["schemas"]["Moment"];
            /** @description Of a round until it is over. It lies ahead, and not after the next round opens. */
            closes_at?: components["schemas"]["Moment"];
            /** @description Of a round until it is loaded; then it only grows. Of a round with awards never. */
            total?: number;
            /** @description Not of a round, whose buyers were promised it. */
            per_user_limit?: number;
            /** @description Not of a round, whose buyers were promised it. */
            price_minor?: components["schemas"]["PriceMinor"];
            /** @description Not of a round, whose buyers were promised it. */
            currency?: components["schemas"]["Currency"];
            /** @description Not of a round, whose buyers were promised it. */
            payment_window_s?: number;
            /** @description Of a draft only. Null is a sale that does not come again. `end_recurrence` ends that of a published one. */
            recurrence?: components["schemas"]["Recurrence"] | null;
            /** @description Of a round until it is over. It takes the place of the whole door; what is left out is as for every sale. */
            door?: components["schemas"]["DoorTerms"];
            /** @description Of a round until it is over. What is left out of it stays as it is. */
            gate?: components["schemas"]["GateTerms"];
            /** @description Not of a round, whose buyers were promised it. */
            allocation?: Omit<components["schemas"]["Allocation"], "kind">;
            /** @description Not of a round, whose buyers were promised it. */
            settlement?: components["schemas"]["Settlement"];
            /** @description Not of a round, whose buyers were promised it. */
            early_access?: components["schemas"]["EarlyAccess"][];
            /**
             * @description Of a round its rate, and whether it is held up, until the round is over. What is left out of it stays as it is. Null takes
             *     the line away, of a draft or the rounds to come.
             */
            line?: components["schemas"]["LineTerms"] | null;
            /** @description Of a draft only. */
            lanes?: components["schemas"]["Lanes"];
            /** @description Of a round that had a plan until it is over, as `rain` changes it; of one without a plan until it is loaded. */
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
            /** @description Requests a second that it may have, as long as it is kept from the load of the others. */
            isolated_requests_per_s?: number;
            /** @description Whether its latest round is asked for at least twice as much as expected. Told in lists of sales and of one sale, as of the last look, once a minute. */
            hot?: {
                /** @description Requests a second between the last two looks, those aside that heard `sold_out`. */
                requests_per_s: number;
                /** @description The sale's `planned_requests_per_s`, or without a plan 3,000 for each of its lanes. */
                expected_requests_per_s: number;
                since: components["schemas"]["Moment"];
                as_of: components["schemas"]["Moment"];
            };
            /** @enum {unknown} */
            state: "draft" | "published" | "withdrawn";
            /** @description What the rounds to come of a sale that comes again offer, if it is something else. Their window is that of the latest round. */
            rounds_to_come?: components["schemas"]["RoundTerms"];
            round: number;
            /** @description How often the offer was written. */
            version: number;
            /** @description How often the latest round was written. A draft has none, and the list of withdrawn sales tells none. */
            round_version?: number;
            paused: boolean;
        } & WithRequired<components["schemas"]["SaleTerms"], "allocation" | "settlement">;
        Sale: components["schemas"]["SaleDetails"];
        LoggedSale: {
            /** @description What was done to the offer and to its latest round, the newest last. The last 50 changes of each are kept, and the round's `beacon`. */
            log: components["schemas"]["LogEntry"][];
        } & components["schemas"]["SaleDetails"];
        LogEntry: {
            /** @description When. An earlier version did not note it. */
            at?: components["schemas"]["Moment"];
            /** @description The operator. None if a schedule did it, or if an earlier version did not note it. */
            by?: components["schemas"]["UserId"];
            /** @description Such as `create`, `publish`, `begin`, `pause`, `resume`, `close`, `restock`, `rain`, `beacon`, `isolate`, `edit`, `duplicate`, `withdraw` or `end_recurrence`. */
            action: string;
            /** @description What else was asked for, such as the number of units. Of an edit the version that was seen, and the first 300 characters of what was to be changed. */
            parameters?: string;
        };
        Sales: {
            sales: components["schemas"]["Sale"][];
            /** @description There are more. */
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
        /** @description One sale; everything, if it names none. */
        Which: {
            sale_id?: components["schemas"]["SaleId"];
        };
        Switches: {
            /** @description Everything is stopped. */
            stopped: boolean;
            /** @description Sales that are stopped each by itself. */
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
         * @description A network as ADDRESS/PREFIX: at least /16 of IPv4 and /32 of IPv6. The bits behind the prefix are taken as zero. An address
         *     alone is a network of one.
         * @example 192.0.2.0/24
         * @example 2001:db8::/48
         */
        Network: string;
        /** @description Of a user, an address or a network. */
        NewDenial: {
            user?: components["schemas"]["UserId"];
            address?: components["schemas"]["Address"];
            network?: components["schemas"]["Network"];
            /** @description The first moment at which they are let in again; ten years from now at most. */
            until: components["schemas"]["Moment"];
            /** @description Why, for operators. Of an address or a network only. */
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
            /** @description Who said so. */
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
        /** @description Like a sale's. */
        CampaignId: string;
        /** @description For people. No control characters. */
        Title: string;
        /** @description What is sold, as plain text. A line feed ends a paragraph; there are no other control characters. */
        Description: string;
        /** @description The first one stands for the sale in lists. */
        Pictures: components["schemas"]["PictureUrl"][];
        /**
         * @description On a host that the deployment's setting `pictureHosts` names, or a drawing of the page's own.
         * @example /art/lamp.svg
         */
        PictureUrl: string;
        /** @description What a unit costs usually, in minor units of `currency`. More than `price_minor`. */
        ListPrice: number;
        /**
         * @description The seller's terms.
         * @example https://shop.example.com/terms
         */
        TermsUrl: string;
        /**
         * @description Into how many parts of Redis each round is divided; 1 if it is left out, and not shown then. A single part serves about
         *     30,000 requests a second, and several lie on different shards of a cluster. The last units of a sale with several lanes
         *     move to where they are asked for, so all of them are sold. Fixed once the sale is published. Not together with `rain`,
         *     with units that are set aside, or with a draw at the end.
         */
        Lanes: number;
        /** @description How many people are expected, for the planner. Buyers are not told. */
        ExpectedAudience: number;
        /** @description In the order in which they are shown. */
        SaleIds: components["schemas"]["SaleId"][];
        NewCampaign: {
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            sale_ids: components["schemas"]["SaleIds"];
            /**
             * @description Most live orders of one user in all its sales together, of those that are made while it says so. One beyond it fails
             *     (`campaign_limit`), and its unit is sold again.
             */
            limit_per_user?: number;
            /** @description The version that is to be changed. */
            version?: number;
        };
        Campaign: {
            campaign_id: components["schemas"]["CampaignId"];
            title: components["schemas"]["Title"];
            sale_ids: components["schemas"]["SaleIds"];
            /**
             * @description Most live orders of one user in all its sales together, of those that are made while it says so. One beyond it fails
             *     (`campaign_limit`), and its unit is sold again.
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
            /** @description Those of which there is something to be seen, the first to open first. */
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
            /** @description Of a round with awards. What can be won, and how often, is published before it opens. */
            draw?: components["schemas"]["DrawTerms"];
            /**
             * @description Roughly what is left. `unknown` before the opening, or after it on the first look: the sale is still being prepared, and is not to be bought yet. Later it means that nobody can say at this moment.
             * @enum {unknown}
             */
            availability: "available" | "few_left" | "sold_out" | "unknown";
            /** @description Of a sale whose units become available over time, how far that has come. */
            rain?: {
                units: number;
                /** @description How many of them have become available, whoever has them now. */
                dropped: number;
            };
            /** @description When more units become available, of a sale that is open and has a plan by which more do. */
            next_release_at?: components["schemas"]["Moment"];
            /** @description Who may buy before everyone else, who can from `opens_at`. */
            early_access?: {
                group: components["schemas"]["GroupName"];
                opens_at: components["schemas"]["Moment"];
                /** @description Until then some units are only for this group. */
                set_aside_until?: components["schemas"]["Moment"];
            }[];
            /** @description Of a sale with a line in front of it. How far that is, `GET /v1/sales/{sale_id}/line` says. */
            line?: {
                /** @description From then on there are tickets. */
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
            /** @description With what the round has, 10,000,000 at most. */
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
        };
        Count: number;
        Live: {
            /** Format: date-time */
            server_time: string;
            sale_id: components["schemas"]["SaleId"];
            round: number;
            /** @enum {unknown} */
            state: "draft" | "upcoming" | "open" | "paused" | "closed";
            /** @description Whether operators stopped it or everything. */
            stopped: boolean | null;
            /** @description Null as well while the round is not loaded. */
            units: components["schemas"]["LiveUnits"] | null;
            /** @description Lanes that do not answer, or that Redis has lost. What they have counts as held, and their answers are left out. Only if there are any. */
            unknown_lanes?: number[];
            /** @description The round of drand whose beacon is still to be posted. Only if the draw waits for one, or the round to be loaded. */
            awaits_beacon?: components["schemas"]["DrandRound"];
            /** @description How often which answer was given since the round was loaded, by code; `accepted` got a unit, `challenged` a challenge and `admitted` a pass. A second old, and what a process had counted when it ended is missing. */
            answers: {
                [key: string]: number;
            } | null;
            queues: components["schemas"]["LiveQueue"][];
        };
        /** @description They add up to the total. */
        LiveUnits: {
            total: number;
            free: components["schemas"]["Count"];
            /** @description Of the free ones, those that are still to become available; only of a round with a plan by which they do. */
            to_drop?: components["schemas"]["Count"];
            /** @description Taken, and not known to be ordered. Null in a round of more than 10000 units, as are the next three. */
            held: components["schemas"]["Count"] | null;
            /** @description Ordered and not paid; in a sale whose settlement is free, granted. */
            ordered: components["schemas"]["Count"] | null;
            paid: components["schemas"]["Count"] | null;
            /**
             * Format: date-time
             * @description The moment for which orders and payments were read; total and free are as of now.
             */
            as_of: string | null;
        };
        LiveQueue: {
            /** @enum {unknown} */
            queue: "orders" | "expiry" | "quarantine";
            waiting: number | null;
            /** @description Not due yet. */
            delayed: number | null;
            /** @description Being worked on. */
            in_flight: number | null;
            /** @description Dead letters. */
            dead: number | null;
            /** @description How long the oldest reservation of this sale waits for its order. */
            oldest_s: number | null;
        };
        Audit: {
            /** @description Every unit is in exactly one place, and what orders have won adds up. */
            clean: boolean;
            /** @description Redis has the round. Without it, the units of an open round that no order has are lost until the round is loaded again, and those of a round that is over are free: they were not sold. */
            in_redis: boolean;
            /**
             * @description True where the round's own total is not known, and the offer's stands for it: Redis has lost the round, and it ended before rounds were kept.
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
            /** @description Of each kind of prize, in the order of the sale's prizes. */
            prizes?: components["schemas"]["Tally"][];
            /** @description Of tickets that win nothing. A draw at the end has none. */
            blanks?: components["schemas"]["Tally"];
            /** @description The entries that the draw at the end has counted, once they have closed. There must be as many orders. */
            entries?: components["schemas"]["Count"];
        };
        /** @description How much there is, how much orders have of it, and how much nobody has. The last two add up to the first. */
        Tally: {
            total: number;
            awarded: number;
            /** @description Below 0 if orders have more than there is, which the audit calls not clean. */
            unclaimed: number;
        };
        Discrepancy: {
            unit: number;
            /** @enum {unknown} */
            wrong: "oversold" | "lost" | "duplicated";
            /** @description Everywhere that it was found, in words. */
            found: string[];
            /** @description When the oldest reservation that is involved was made, in milliseconds since the Unix epoch. */
            since_ms?: number;
            /** @description What reconciliation does about it. */
            repairs: components["schemas"]["Repair"][];
        };
        Repair: {
            /** @description Make Redis know the order that has the unit. */
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
            /** @description Take units that two lanes have out of both, so that they can be given back. */
            exclude?: {
                units: components["schemas"]["Unit"][];
            };
            /** @description Load the round again, which Redis has lost. */
            rebuild?: Record<string, never>;
        };
        /** @description What every problem has, as RFC 9457 says. */
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
            /** @description What is wrong with which field, if it is about fields of the body. A new sale hears of all of them at once. The first one is the `detail`. */
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
        /** @description Not the answer to the challenge, which is used up now. Ask for a new one. */
        WrongAnswer: {
            /** @constant */
            code?: "wrong_answer";
            /** @constant */
            status?: 403;
        } & components["schemas"]["Problem"];
        /** @description The user has no such challenge here. It is over, or was used. Ask for a new one; nothing is held against the user. */
        ChallengeOver: {
            /** @constant */
            code?: "challenge_over";
            /** @constant */
            status?: 409;
        } & components["schemas"]["Problem"];
        /** @description As many of the user's reservations in this round ended unpaid as the sale allows. */
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
        /** @description The sale has a line, and the request shows no ticket of this user for its round. */
        NoTicket: {
            /** @constant */
            code?: "no_ticket";
            /** @constant */
            status?: 403;
            tickets_path: string;
        } & components["schemas"]["Problem"];
        /** @description The user is in line. Look at the line again, and come once it admits the ticket. */
        NotYourTurn: {
            /** @constant */
            code?: "not_your_turn";
            /** @constant */
            status?: 409;
            line_path: string;
            /** @description Whom the front admits that was shown. None if none was. */
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
            /** @description The version that it is now. */
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
            /** @description When the next units become available, if the round has a plan by which more do, or what is left is set aside for a group until then. */
            next_release_at?: components["schemas"]["Moment"];
        } & components["schemas"]["Problem"];
        LimitReached: {
            /** @constant */
            code?: "limit_reached";
            /** @constant */
            status?: 409;
            /** @description What the user has. */
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
            /** @description What `version`, or of a round `round_version`, is now. */
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
            /** @description The round that runs. */
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
        /** @description The unit is this user's, but the queue does not have it yet. */
        NotSent: {
            /** @constant */
            code?: "overloaded";
            /** @constant */
            status?: 503;
            reservation_id: components["schemas"]["ReservationId"];
        } & components["schemas"]["Problem"];
    };
    responses: {
        /** @description The client has it. */
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
        /** @description The request is not of the documented form. */
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
        /** @description No token, or one that is not good. From the system itself, a token whose subject cannot be a user. */
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
                 *       "title": "Who is asking is not known",
                 *       "code": "unauthorized"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Unauthorized"];
            };
        };
        /** @description The gateway does not let it pass. */
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
        /** @description This user has no such reservation, whether another has it or nobody. */
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
        /** @description It is a draft, has not opened yet or is over; another round runs; or the key named another request. */
        NotSteered: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["NotAmendable"] | components["schemas"]["RoundChanged"] | components["schemas"]["KeyReused"];
            };
        };
        /** @description The sale as it is does not allow it. */
        NotAmendable: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 409,
                 *       "title": "The sale as it is does not allow it",
                 *       "code": "not_amendable",
                 *       "detail": "it was withdrawn"
                 *     }
                 */
                "application/problem+json": components["schemas"]["NotAmendable"];
            };
        };
        /**
         * @description Somebody has changed it since; it cannot be changed, or not so, any more; another round runs; or the key named another
         *     request.
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
        /** @description The request line and the headers have more than 10,240 bytes together. */
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
        /** @description The body is not JSON by its content type. */
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
        /** @description Too many requests from this user or address; from the gateway, from everybody together. */
        RateLimited: {
            headers: {
                "Cache-Control": components["headers"]["Problem-Cache-Control"];
                /** @description Seconds after which to try again. */
                "Retry-After"?: number;
                /** @description What is left of the user's own quota, and in how many seconds there is more (draft-ietf-httpapi-ratelimit-headers). Not sent if the rate of the address or of everybody is what holds. */
                RateLimit?: string;
                /** @description The quota, and the seconds that it is for. Sent with RateLimit. */
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
        /** @description A mistake of ours. */
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
        /** @description The request is not of the documented form. */
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
        /** @description A mistake of ours. */
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
        /** @description Names a sale. */
        sale_id: components["schemas"]["SaleId"];
        /** @description A round that the sale has come to. */
        round: number;
        /** @description What a right answer to a challenge gave this user, at most five minutes ago. */
        token: components["schemas"]["Token"];
        /** @description Names a reservation, and the order that it becomes. */
        reservation_id: components["schemas"]["ReservationId"];
        /**
         * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
         *     second click is the same attempt, and a second unit takes another token or a key.
         */
        "Idempotency-Key": components["schemas"]["IdempotencyKey"];
        /** @description For a sale with a line, the user's `ticket`. */
        "X-Line-Ticket": components["schemas"]["Sealed"];
        /** @description For a sale with a line, the `front` of its document, of any moment from which on the user is admitted. */
        "X-Line-Front": components["schemas"]["Sealed"];
        /** @description The `ETag` of what the client has. */
        "If-None-Match": string;
    };
    requestBodies: {
        /** @description The round that the request is about. */
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
        /** @description Nobody may keep it. */
        "Cache-Control": "no-store";
        /** @description Nobody may keep it. */
        "Problem-Cache-Control": "no-store";
        /** @description Shared caches may keep it for a second. */
        "Shared-Cache-Control": "public, max-age=0, s-maxage=1, stale-if-error=30";
        /** @description Everybody may keep it for a second. */
        "Line-Cache-Control": "public, max-age=1, stale-if-error=30";
        /** @description Shared caches may keep it for a second while it can change, and for a day then. */
        "Draw-Cache-Control": "public, max-age=0, s-maxage=1, stale-if-error=30" | "public, max-age=0, s-maxage=86400";
        /** @description Shared caches may keep it for a second. */
        "Absent-Cache-Control": "public, max-age=0, s-maxage=1";
        /** @description The same for the same content; the time is not looked at. */
        ETag: string;
        /** @description Seconds until it opens, or until `next_release_at`; 300 at most. */
        "Retry-After-Opening": number;
        /** @description Seconds after which to try again with a ticket. */
        "Retry-After-Ticket": number;
        /** @description Seconds after which to try again. */
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
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaigns of which there is something to be seen. */
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
                /** @description The `ETag` of what the client has. */
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
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Names a campaign. */
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
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Names a sale. */
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
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The draw. Shared caches may keep it for a second, and for a day once nothing about it changes any more. */
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
            /** @description The client has it. */
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
                /** @description The `ETag` of what the client has. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
                round: components["parameters"]["round"];
                /** @description Counted from 0. */
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
            /** @description The client has it. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Draw-Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            /** @description There is no such round, it is not drawn at its end, its entries have not closed, or there are fewer. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description The user's ticket. It is shown along with what asks for a challenge or a token. */
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
            /** @description There are no tickets yet. `opens_at` is when there are. */
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
                     *       "detail": "opens_at: from then on there are tickets for the sale's line",
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
                /** @description Names a sale. */
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
                /** @description For a sale with a line, the user's `ticket`. */
                "X-Line-Ticket"?: components["parameters"]["X-Line-Ticket"];
                /** @description For a sale with a line, the `front` of its document, of any moment from which on the user is admitted. */
                "X-Line-Front"?: components["parameters"]["X-Line-Front"];
            };
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        /** @description Without a kind it is the one that the sale offers first. One that the sale does not offer is refused. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChallengeRequest"];
            };
        };
        responses: {
            /**
             * @description A challenge of this user. It can be answered once. Others of the same user hold beside it. Of the kind `none` it asks
             *     nothing: its id alone gives the token.
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
            /** @description A user or an address that was shut out for a while, or somebody without a ticket for the sale's line. */
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
                /** @description For a sale with a line, the user's `ticket`. */
                "X-Line-Ticket"?: components["parameters"]["X-Line-Ticket"];
                /** @description For a sale with a line, the `front` of its document, of any moment from which on the user is admitted. */
                "X-Line-Front"?: components["parameters"]["X-Line-Front"];
            };
            path: {
                /** @description Names a sale. */
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
            /** @description The way in. It is this user's alone. */
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
            /** @description A wrong answer, a user or an address that was shut out for a while, somebody in none of the groups that may buy, or somebody without a ticket for the sale's line. */
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
                     *       "title": "That was not the answer",
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
            /** @description Too early, too late, or no longer a challenge of this user. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Maybe none. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description What a right answer to a challenge gave this user, at most five minutes ago. */
                token: components["parameters"]["token"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /**
             * @description The unit is this user's, and the queue has it. A retry with the same key hears the same, with any token. Without
             *     a key the token is the key.
             *
             *     It does not say what the unit has won in a round with awards: until the order is written, the reservation may still get
             *     another unit. `GET /v1/reservations/{reservation_id}` and the push message say it as soon as the order exists.
             */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    /** @description Where the reservation is. */
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
            /** @description The token is not this user's or no longer holds, or the user was shut out for a while. */
            403: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 403,
                     *       "title": "This way in is not yours or no longer open",
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
            /** @description There is no unit for this user now. */
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
             * @description The sale is paused, or a part of the system does not answer. With `reservation_id` the unit is this user's
             *     already: the same request again has it ordered.
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
                /** @description Whether to make the order of a reservation that is queued at once. It is made in any case. */
                expedite?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description Names a reservation, and the order that it becomes. */
                reservation_id: components["parameters"]["reservation_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How it stands. */
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
                /** @description Names a reservation, and the order that it becomes. */
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
            /** @description It is paid, granted, expired or failed; or what the sale gives is final, and the reservation too while it is queued. */
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
            /** @description The first to open comes first. */
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
                /** @description Names a sale. */
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
                /** @description The `next_cursor` of the page before. */
                cursor?: components["schemas"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
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
                /** @description Names the message. Part of what is signed. */
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
            /** @description What became of the payment, or that the event is nothing to this system. Repeating it changes nothing. */
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
                     *       "title": "Who is asking is not known",
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
            /** @description It is changed, or was written before. */
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
            /** @description It is created. */
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
            /** @description Somebody else has changed it. */
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
                 * @description `published` has not opened for anybody, `open` can be bought from unless it is paused or stopped, `ended` is a sale
                 *     whose latest round is over, and `withdrawn` was taken back before it opened.
                 */
                state?: "draft" | "published" | "open" | "ended" | "withdrawn";
                /** @description The `next_cursor` of the page before. It goes with the same state. */
                cursor?: string;
                /** @description How many at most. It goes with a state. */
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
            /** @description The same sale was created before. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sale"];
                };
            };
            /** @description It is created. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sale as it is now, and what was done to it. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description It is deleted. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
                /** @description Names a sale. */
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
                /** @description Names a sale. */
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
            /** @description The same sale was made before. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sale"];
                };
            };
            /** @description It is made. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where the units are, what people are answered and what is queued. */
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
                /** @description Names a sale. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
                /** @description Names the delivery, so that a retry adds nothing. */
                "Idempotency-Key": components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @description Names a sale. */
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
                /** @description Names the change, so that a retry adds nothing. */
                "Idempotency-Key": components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @description Names a sale. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
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
            /** @description The round has it. */
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
            /** @description No beacon decides the draw, or the entries of a draw at the end have not closed, so that no round of drand is named. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["Problem-Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 409,
                     *       "title": "The sale as it is does not allow it",
                     *       "code": "not_amendable",
                     *       "detail": "no beacon decides this round"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["NotAmendable"];
                };
            };
            413: components["responses"]["TooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description It is not the signature of the round of drand that the draw has named. Nothing was changed. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every unit, counted by its place. */
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
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
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
            /** @description How many were sent. */
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
                /** @description What the rows are written as. */
                format?: "csv" | "jsonl";
                /** @description Where the page begins. Take it from the `Link` of the page before, which has the whole path. */
                cursor?: components["schemas"]["ExportCursor"];
            };
            header?: never;
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    /** @description The path of the next page, as RFC 8288 says. The last page has none. */
                    Link?: string;
                    /** @description How many rows the page has, without the line of columns. */
                    "Export-Rows": number;
                    /** @description About how many rows all pages have. On the first page. */
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
                /** @description The `next_cursor` of the page before. */
                cursor?: components["schemas"]["ExportCursor"];
            };
            header?: never;
            path: {
                /** @description Names a sale. */
                sale_id: components["parameters"]["sale_id"];
                /** @description A round that the sale has come to. */
                round: components["parameters"]["round"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the report. */
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
                /** @description Which sale. Needed unless there is a user. */
                sale?: components["schemas"]["SaleId"];
                /** @description Which of the sale's rounds. */
                round?: number;
                /** @description Only orders in this state. */
                state?: components["schemas"]["OrderState"];
                /** @description Only orders of this user. */
                user?: components["schemas"]["UserId"];
                /** @description Only orders that were written then or later. */
                from?: components["schemas"]["Moment"];
                /** @description Only orders that were written earlier. */
                to?: components["schemas"]["Moment"];
                /** @description The `next_cursor` of the page before, in the same query; `limit` may change. */
                cursor?: components["schemas"]["OrdersCursor"];
                /** @description How many orders a page has. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
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
                /** @description Names a reservation, and the order that it becomes. */
                reservation_id: components["parameters"]["reservation_id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order as it was last written, and all that the ledger knows of it. */
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
                /** @description The `next_cursor` of the page before. */
                cursor?: components["schemas"]["RefundsCursor"];
                /** @description How many refunds a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
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
            /** @description It is marked, by this request or by an earlier one. */
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
            /** @description There is no such payment, or its order took it. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
                 * @description Names the attempt. A retry with the same key does nothing more. A reservation without a key is named by its token: a
                 *     second click is the same attempt, and a second unit takes another token or a key.
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Names a sale. */
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
            /** @description What is stopped now. */
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
            /** @description What is stopped now. */
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
            /** @description What is stopped now. */
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
            /** @description Those who are shut out for longest come first. */
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
            /** @description Who is shut out. */
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
            /** @description Who is shut out now. */
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
                /** @description Who. `POST /v1/admin/allow` also takes ids that do not fit into a path, such as those with a slash. */
                user: components["schemas"]["UserId"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description Who is shut out now. */
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
                /** @description The `next_cursor` of the page before. */
                cursor?: components["schemas"]["UserId"];
            };
            header?: never;
            path: {
                /** @description Which group. */
                group: components["schemas"]["GroupName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of up to 1,000 users, in no order that means anything. A group without users is an empty list. */
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
                /** @description Which group. */
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
            /** @description They are in the group. */
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
                /** @description Which group. */
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
            /** @description They are not in the group. */
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
                /** @description Whose dead letters. */
                queue: "orders" | "expiry" | "winners" | "webhook" | "quarantine";
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["Nothing"];
        responses: {
            /** @description How many were sent. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "moved": 3
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
