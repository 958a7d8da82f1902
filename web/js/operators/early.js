// Sales with early access for a group, and the lists of a group's members.

import { number } from '../format.js';
import { hour } from '../early.js';
import { Problem } from '../http.js';
import { t } from '../i18n.js';
import { again } from './again.js';
import { api } from './api.js';

/** Maximum users in one request and in one list, as the system accepts them. */
const PAGE = 1_000;
const MOST = 1_000_000;

const GROUP = '[A-Za-z0-9_\\-]{1,48}';

/** Who may buy when, and who has a quota until when, for the head of a board. */
export function earlyWords({ opens_at: opens, early_access: all = [] }) {
  const at = (s) => hour(Date.parse(opens) + s * 1000);
  return all.flatMap(({ group, lead_s: lead, quota }) => [
    ...(lead > 0 ? [t('op.early.when', { group, at: at(-lead) })] : []),
    ...(quota ? [t('op.early.quota', { group, n: number(quota.units), at: at(quota.for_s) })] : []),
  ]);
}

/** Sends a list of any length; `say` receives the progress. */
async function change({ group, how, users, file }, say) {
  const lines = `${users}\n${file.size > 0 ? await file.text() : ''}`.split(/\r?\n/).map((line) => line.trim());
  const all = [...new Set(lines.filter(Boolean))];
  if (all.length === 0 || all.length > MOST) throw new Problem('group_list', { members: { detail: t('op.group.none', { most: number(MOST) }) } });
  const values = (sent) => ({ n: number(sent), all: number(all.length), group });
  for (let sent = 0; sent < all.length; sent += PAGE) {
    say(t('op.group.progress', values(sent)));
    // Sending a page twice has no further effect.
    await again(() => api.group(group, how, all.slice(sent, sent + PAGE)));
  }
  return { words: t('op.group.done', values(all.length)) };
}

/** Adds users to a group, or removes them. */
export function groupList() {
  return {
    question: {
      title: t('op.group'), text: t('op.group.text'), go: t('op.group.go'),
      fields: [
        { name: 'group', label: t('op.form.group'), value: 'members', pattern: GROUP, maxlength: 48, autocapitalize: 'none', autocomplete: 'off' },
        { name: 'how', label: t('op.group.how'), value: 'add', options: [['add', t('op.group.add')], ['remove', t('op.group.remove')]] },
        { name: 'users', label: t('op.group.users'), lines: 4, required: false },
        { name: 'file', label: t('op.group.file'), type: 'file', accept: '.txt,.csv,text/plain', required: false, class: 'file' },
      ],
    },
    run: change,
  };
}
