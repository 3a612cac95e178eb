import type { ProfileAnswer } from '../answers/profile.ts'
import { type Block, blocksOf, type Line, type Marked, quiet, table, text } from './block.ts'

const RULES: Readonly<Record<ProfileAnswer['rules'][number]['status'], Marked>> = {
  met: { mark: 'good', text: 'met' },
  not_met: { mark: 'bad', text: 'not met' },
  unknown: { mark: 'open', text: 'unknown' },
  not_applicable: { mark: 'none', text: 'does not apply' },
  not_observable: { mark: 'none', text: 'cannot be seen' },
}

/** A page of a provider; a text that is no URL stays as it is. */
const sourceLink = (url: string): Line[number] =>
  URL.canParse(url) && url.startsWith('https://') ? { link: url, text: new URL(url).hostname } : url

/** The rules of a profile: how many are met, and each with what it came to. */
export const profileBlocks = (
  { met, not_met, unknown, rules, source, seen }: ProfileAnswer,
  caption: string,
): readonly Block[] =>
  blocksOf([
    text(`${met} met, ${not_met} not met, ${unknown} unknown.`),
    table(
      caption,
      rules,
      ['Rule', (rule) => rule.text],
      ['By', ({ by }) => by.join(', ')],
      ['Status', ({ status }) => RULES[status]],
      [
        'Why',
        ({ because, accepted }) => (accepted ? `${because}; accepted until ${accepted.until.slice(0, 10)}` : because),
      ],
    ),
    source !== '' &&
      quiet(
        'From ',
        ...source.split(', ').flatMap((url, i) => [i === 0 ? '' : ', ', sourceLink(url)]),
        seen === undefined ? '.' : `, read ${seen}.`,
      ),
  ])
