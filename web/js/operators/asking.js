// Asks before an action, acts, and says what came of it.

import { t } from '../i18n.js';
import { confirm } from './dialog.js';

/** The meaning of an answer that needs more words than "done". */
function done(what, { moved, may_be_more: mayBeMore, still_stopped: stillStopped } = {}) {
  if (stillStopped) return t('op.start.still');
  return moved === undefined ? t('op.done', { what }) : t(mayBeMore ? 'op.redrive.more' : 'op.redrive.done', { n: moved });
}

/** Asks, acts, and reports: `said` receives the words. An answer that is `said` has reported already. Returns the answer, or null. */
export async function asking(question, run, said) {
  const answer = await confirm(question, run);
  if (answer !== null && !answer?.said) said(done(question.title, answer));
  return answer;
}
