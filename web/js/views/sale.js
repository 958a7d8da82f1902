// One sale: the countdown, the button, and the way to a reservation.

import { of } from '../awards.js';
import { Buying } from '../buying.js';
import { nextDrop, sale, stateNow } from '../catalog.js';
import { clock } from '../clock.js';
import { announce, h } from '../dom.js';
import { quotaEnd, whoWhen } from '../early.js';
import { t } from '../i18n.js';
import { button, chances, facts, goods, nothing, picture, price, problemWords, rainWords, saleBadge, skeleton } from '../parts.js';
import { session } from '../session.js';
import { EARLY_MS, REFRESH_CHANGE_MS, REFRESH_EARLY_MS, REFRESH_MS, REFRESH_SOON_MS, everySecond, refreshing } from '../timing.js';
import { BUYING_STAGES } from './buying-stages.js';
import { IDLE_STAGES } from './idle-stages.js';
import { View } from './view.js';

/** A card that was loaded this soon after an answer may be older than the answer. */
const CARD_LAG_MS = 2_500;
/** A shorter wait for the next drop gets no countdown: the button stays. */
const WORTH_A_COUNTDOWN_MS = 2_000;
/** How often to check whether the user's reservations have ended: well within a user's rate limit. */
const POLL_EVERY_MS = 15_000;

export class SaleView extends View {
  card = null;
  #id;
  #problem = null;
  #place = h('section', { class: 'panel' });
  #badge = h('div', { class: 'badges' });
  #shown = '';
  #early = 0;
  /** Who can buy when, if not everyone at once. */
  #who = h('p', { class: 'early', hidden: true });
  #lookedAt = -Infinity;
  #lookedFor = null;
  #rain = h('p', { class: 'rain', hidden: true });
  /** The drop at the end of the countdown. */
  #awaited = null;
  /** For a sale with a line: its module, which few sales need, and the state of this round's line. */
  #line = null;
  #waiting = null;
  #leavesLine = new AbortController();
  #goesOn = false;

  constructor(main, id) {
    super(main);
    this.#id = id;
    this.buying = new Buying(() => this.card, this.signal, () => this.#waiting?.headers);
    this.buying.addEventListener('change', () => this.#changed());
    refreshing(() => this.#load(), () => this.#interval(), this.signal);
    session.addEventListener('change', () => {
      // Another user may be let in earlier.
      this.#early = 0;
      if (!this.buying.idle) return;
      this.render();
      if (this.card) this.#get();
    }, { signal: this.signal });
    document.addEventListener('visibilitychange', () => this.#lineMoved(), { signal: this.signal });
    this.signal.addEventListener('abort', () => this.#leavesLine.abort(), { once: true });
    this.render();
    everySecond(() => (nextDrop(this.card) ?? 0) - clock.now(), () => this.#showRain(), this.signal);
  }

  get title() {
    return this.card?.title ?? t('sales.title');
  }

  /** The state while idle: `upcoming`, `preparing`, `early`, `open`, `between`, `paused`, `closed` or `sold_out`. */
  get state() {
    const state = stateNow(this.card);
    if (state === 'between' && this.#awaited !== nextDrop(this.card)) return 'open';
    return (state === 'open' || state === 'early') && clock.now() < this.#early ? 'upcoming' : state;
  }

  /** When it opens for this user, by the latest answer. */
  get opensAt() {
    return clock.now() < this.#early ? this.#early : Date.parse(this.card.opens_at);
  }

  /** The user was refused: only members can buy, and the user is not one, or is in a group that waits longer. */
  get refusedEarly() {
    return clock.now() < this.#early && stateNow(this.card) === 'early';
  }

  /** The user has reached the limit per person, as far as this tab knows. */
  get atLimit() {
    const live = this.buying.purchase?.live ?? [];
    return live.length > 0 && live.length >= this.card.per_user_limit;
  }

  /** Asks what the user has in this sale, from any tab or device: once on arrival, and regularly while it is something. */
  async #get() {
    const { current } = session;
    if (!current || !this.buying.idle || this.state === 'upcoming') return;
    // Before their turn, users cannot have bought anything.
    if (this.card.line && !this.#waiting?.isTurn) return;
    const again = this.buying.purchase.live.length > 0 && clock.now() >= this.#lookedAt + POLL_EVERY_MS;
    if (this.#lookedFor === current.user && !again) return;
    [this.#lookedFor, this.#lookedAt] = [current.user, clock.now()];
    await this.buying.find();
    if (this.signal.aborted || !this.buying.idle) return;
    this.update();
  }

  async #load() {
    try {
      const card = await sale(this.#id, this.signal);
      const first = this.card === null;
      const better = this.card?.title === card.title;
      const moved = this.card?.opens_at !== card.opens_at || this.card?.closes_at !== card.closes_at;
      this.card = card;
      await this.#getInLine();
      // With frequent drops, a countdown would only flicker.
      const next = nextDrop(card);
      if (next === null || next - clock.now() > WORTH_A_COUNTDOWN_MS) this.#awaited = next;
      this.#problem = null;
      this.#settle();
      if (first || !better) this.render();
      else this.update();
      if (better && moved) this.main.querySelector('dl.facts')?.replaceWith(facts(card));
      if (first) this.buying.resume();
      this.#get();
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
      if (this.card === null || error.code === 'unknown_sale') this.render();
    }
  }

  /** Loads the module of a sale with a line, and starts waiting in the line of its round. */
  async #getInLine() {
    const { line, round } = this.card;
    if (!line || this.#waiting?.round !== round) {
      this.#leavesLine.abort();
      this.#waiting = null;
    }
    if (!line) return;
    this.#line ??= await import('./waiting.js').catch(() => null);
    if (this.#line === null || this.signal.aborted) return;
    if (this.#waiting) {
      this.#waiting.card = this.card;
      return;
    }
    this.#leavesLine = new AbortController();
    this.#waiting = new this.#line.Waiting(this.card, this.#leavesLine.signal);
    this.#waiting.addEventListener('change', () => this.#lineMoved(), { signal: this.#leavesLine.signal });
  }

  /** Shows the line's progress. On the user's turn, goes on to the question if the page is visible and the user has not bought yet. */
  async #lineMoved() {
    const waiting = this.#waiting;
    if (!waiting || !this.card) return;
    this.update();
    const isTurn = () => waiting === this.#waiting && this.buying.idle && this.#line.canGoOn(this, waiting, this.state);
    document.title = isTurn() ? `${t('line.turn.title')} · ${this.card.title}` : `${this.card.title} · ${t('brand')}`;
    if (this.#goesOn || document.hidden || !isTurn()) return;
    this.#goesOn = true;
    await this.#get();
    this.#goesOn = false;
    if (this.signal.aborted || document.hidden || !isTurn()) return;
    announce(t('line.turn.title'), 'assertive');
    waiting.go();
    this.buying.buy();
  }

  /** Discards a problem that a newer card contradicts. */
  #settle() {
    const { name, problem, at } = this.buying.stage;
    if (name !== 'problem' || clock.now() < at + Math.max(CARD_LAG_MS, (problem.retryAfterS ?? 0) * 1000)) return;
    if (clock.now() < (quotaEnd(this.card, problem) ?? 0)) return;
    if (problem.code === 'sold_out' && this.state === 'open' && this.card.availability !== 'unknown') {
      announce(of(this.card, 'sold_out.back'));
      this.buying.reset();
    } else if (problem.code === 'paused' && this.state !== 'paused') {
      this.buying.reset();
    }
  }

  #interval() {
    if (!this.card) return REFRESH_CHANGE_MS;
    const { idle, stage } = this.buying;
    const { state } = this;
    // The line's document has the news.
    if (idle && this.#waiting && state !== 'upcoming' && state !== 'preparing' && !this.#waiting.isTurn) return REFRESH_EARLY_MS;
    const left = (state === 'between' ? nextDrop(this.card) : this.opensAt) - clock.now();
    if (left > EARLY_MS) return Math.min(REFRESH_EARLY_MS, left - EARLY_MS);
    const dropped = state === 'open' && this.card.availability === 'sold_out';
    const changes = stage.problem?.code === 'paused' || (idle && (state === 'paused' || state === 'preparing' || dropped));
    if (changes) return REFRESH_CHANGE_MS;
    return idle && state === 'upcoming' ? REFRESH_SOON_MS : REFRESH_MS;
  }

  #changed() {
    const { name, id, problem } = this.buying.stage;
    if (name === 'done') {
      location.hash = `#/reservations/${id}`;
      return;
    }
    if (problem?.code === 'not_open' && name === 'problem') {
      const opens = Date.parse(problem.members.opens_at);
      const now = clock.now();
      this.#early = opens > now ? opens : now + (problem.retryAfterS ?? 1) * 1000;
      announce(t(this.refusedEarly ? 'early.refused' : 'problem.not_open.text'));
      this.buying.reset();
      return;
    }
    if (name === 'problem' && this.#waiting && this.#turnedBack(problem)) {
      this.buying.reset();
      return;
    }
    this.update(true);
  }

  /** Whether a problem takes the buyer back to the line. */
  #turnedBack(problem) {
    // A watermark can be so old that its key no longer exists.
    const isOld = problem.code === 'invalid_request' && /x-line-watermark/i.test(problem.members.detail ?? '');
    if (isOld || problem.code === 'no_ticket' || problem.code === 'not_your_turn') {
      this.#waiting.turnedAway(problem);
      return true;
    }
    if (problem.code !== 'sold_out' || nextDrop(problem.members) !== null || !this.#waiting.document) return false;
    this.#waiting.soldOut();
    return true;
  }

  render() {
    this.#shown = '';
    if (this.#problem && (!this.card || this.#problem.code === 'unknown_sale')) {
      const { status } = this.#problem;
      const passing = !(status >= 400 && status < 500 && status !== 429);
      this.main.replaceChildren(...(passing
        ? [h('h1', { tabindex: '-1' }, t('sale.trouble.title')), h('div', { class: 'empty' }, h('p', {}, t('sale.trouble.text')), button(t('retry'), () => this.#load(), { class: 'secondary' }))]
        : nothing(problemWords(this.#problem))));
      return;
    }
    if (!this.card) {
      this.main.replaceChildren(h('div', { class: 'product' }, skeleton('tall'), skeleton('tall')));
      return;
    }
    const { card } = this;
    this.#place.setAttribute('aria-label', card.title);
    this.#place.classList.toggle('lined', Boolean(card.line));
    this.putAll((heading) => [h('div', { class: 'product' },
      h('div', { class: 'product-picture' }, picture(card)),
      h('div', { class: 'product-body' },
        h('a', { class: 'back', href: '#/' }, t('back')), this.#badge, heading, price(card), this.#rain, this.#who, this.#place, chances(card), facts(card), goods(card)))]);
    this.update();
  }

  /** Updates only what has changed. */
  update(byUser = false) {
    if (!this.card) return;
    this.#showRain();
    const { stage } = this.buying;
    const state = this.state;
    const who = whoWhen(this.card, state);
    this.#who.hidden = who === null;
    this.#who.textContent = who ?? '';
    const mark = this.card.availability;
    const line = this.buying.idle && this.#waiting ? this.#line.stageOf(this, this.#waiting, state) : null;
    // The line's document is ahead of the card.
    const said = { sold_out: { availability: 'sold_out', next_release_at: null }, ended: { state: 'closed' } }[line];
    const card = { ...this.card, ...said };
    const badge = `${state} ${mark} ${said ? line : ''}`;
    if (this.#badge.dataset.state !== badge || this.#shown === '') {
      this.#badge.dataset.state = badge;
      this.#badge.replaceChildren(saleBadge(card));
    }
    const { purchase } = this.buying;
    const loads = this.buying.idle && Boolean(this.card.line) && !this.#waiting && state !== 'closed' && state !== 'upcoming';
    const key = this.buying.idle ? `idle ${state} ${line} ${loads} ${state === 'between' ? nextDrop(this.card) : this.opensAt} ${purchase?.reservationId} ${this.atLimit}` : stage;
    if (key === this.#shown) return;
    const first = this.#shown === '';
    this.#shown = key;
    this.main.querySelector('.product')?.classList.toggle('compact', !this.buying.idle);
    const shown = !this.buying.idle ? BUYING_STAGES[stage.name](this, stage)
      : line ? this.#line.LINE_STAGES[line](this, this.#waiting) : IDLE_STAGES[loads ? 'preparing' : state](this);
    this.put(this.#place, shown, { quiet: first && !byUser });
  }

  /** Shows the progress of the rain, without announcing it: it changes every second. */
  #showRain() {
    if (!this.card) return;
    const words = rainWords(this.card, this.state);
    this.#rain.hidden = words === null;
    if (words !== null && this.#rain.textContent !== words) this.#rain.textContent = words;
  }

  /** The drop that a sold-out answer named has come: shows the button again. */
  dropHasCome = () => {
    if (this.buying.stage.name !== 'problem') return;
    announce(of(this.card, 'sold_out.back'), 'assertive');
    this.buying.reset();
  };

  /** Reloads the sale, and shows the button again. */
  lookAgain = async () => {
    await this.#load();
    this.buying.reset();
  };

  buyButton(text = of(this.card, 'buy'), more = {}) {
    return button(text, () => this.buying.buy(), { class: 'primary', 'data-keep': 'buy', ...more });
  }
}
