import type { Attempt, Attempts, Conversation, Progress } from '../block.ts'
import { badge, inlines, safe } from './inline.ts'
import { round } from './pictures.ts'

/** The progress of work: a bar with a segment for each outcome, and the figures as text. */
export function progress({ label, done, total, parts }: Progress): string {
  const share = total === 0 ? 100 : Math.floor((done / total) * 100)
  let at = 0
  const stretches = parts.map(({ count, mark }) => {
    const width = total === 0 ? 0 : Math.max(0, Math.min(100 - at, (count / total) * 100))
    const rect = `<rect class="fill ${mark}" x="${round(at)}" width="${round(width)}" height="6"/>`
    at += width
    return rect
  })
  return `<div class="progress"><p class="label">${safe(label)}</p><p>${done} of ${total} (${share}%)</p><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="6"/>${stretches.join('')}</svg><ul>${parts.map((part) => `<li>${badge('mark', part.mark, part.label)} ${part.count}</li>`).join('')}</ul></div>`
}

const SIDES = { client: 'Client', server: 'Server', note: '' } as const

/** Both sides of an SMTP session. */
export const conversation = ({ label, lines }: Conversation): string =>
  `<div class="conversation"><p class="label">${safe(label)}</p><ol>${lines
    .map(
      ({ from, text }) =>
        `<li class="${from}">${SIDES[from] === '' ? '' : `<span class="side">${SIDES[from]}</span> `}<code>${safe(text)}</code></li>`,
    )
    .join('')}</ol></div>`

export const attempts = ({ label, attempts: all }: Attempts): string =>
  `<div class="attempts"><p class="label">${safe(label)}</p><ol>${all.map(attempt).join('')}</ol></div>`

const attempt = ({ from, to, outcome, reply, notes }: Attempt): string =>
  `<li><p><code>${safe(from)}</code> <span aria-hidden="true">→</span><span class="unseen">to</span> ${inlines(to)} ${badge('mark', outcome.mark, outcome.text)}</p>${reply === undefined ? '' : `<pre>${safe(reply)}</pre>`}${notes.map((note) => `<p class="quiet">${inlines(note)}</p>`).join('')}</li>`
