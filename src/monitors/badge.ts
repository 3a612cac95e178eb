import type { BadgeAnswer, MonitorAnswer } from '../answers/monitors.ts'
import { escapeHtml, printable } from '../base/text.ts'

const COLORS = { ok: 'brightgreen', bad: 'red', unknown: 'lightgrey' } as const

/** The badge of a monitor: its target and its state. The target of a verification is not shown. */
export function badgeOf({
  kind,
  target,
  state,
  last,
}: Pick<MonitorAnswer, 'kind' | 'target' | 'state' | 'last'>): BadgeAnswer {
  const label = kind === 'verify' ? 'mailbox' : kind === 'blacklist' ? 'blacklists' : `mail ${printable(target, 60)}`
  return { schemaVersion: 1, label, message: messageOf(state, last), color: COLORS[state] }
}

function messageOf(state: MonitorAnswer['state'], last: MonitorAnswer['last']): string {
  if (state === 'unknown') return 'unknown'
  if (last?.score !== null && last?.score !== undefined) return `${last.score}/100`
  if (last?.listed !== null && last?.listed !== undefined) return last.listed === 0 ? 'on no list' : `on ${last.listed}`
  return state
}

/** Colours of shields.io by their names. */
const HEX: Readonly<Record<string, string>> = { brightgreen: '#2c7d1e', red: '#c22f2f', lightgrey: '#6b6b6b' }
/** Width of a character of the font, in px: an estimate, which `textLength` makes fit. */
const CHARACTER = 6.6

/** The badge as an image without external resources. */
export function badgeSvg({ label, message, color }: BadgeAnswer): string {
  const width = (text: string): number => Math.round([...text].length * CHARACTER) + 12
  const [left, right] = [width(label), width(message)]
  const [name, said] = [escapeHtml(label), escapeHtml(message)]
  const text = (x: number, length: number, words: string): string =>
    `<text x="${x}" y="14" textLength="${length - 12}" lengthAdjust="spacingAndGlyphs">${words}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${said}"><title>${name}: ${said}</title><rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${HEX[color] ?? '#6b6b6b'}"/><g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">${text(6, left, name)}${text(left + 6, right, said)}</g></svg>\n`
}
