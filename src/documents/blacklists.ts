import type { BlacklistsAnswer, ListStateAnswer } from '../answers/blacklists.ts'
import { code, type Document, type GridCell, heading, type Line, type Mark, quiet } from './block.ts'
import { footerOf } from './footer.ts'
import { REASON_WORDS, TIER_WORDS, wordsFor } from './words.ts'

const STATES: Readonly<Record<ListStateAnswer['state'], readonly [Mark, string]>> = {
  healthy: ['good', 'works'],
  untested: ['none', 'not tested yet'],
  failing: ['warn', 'failing'],
  dead: ['bad', 'dead'],
  quarantined: ['bad', 'not trusted'],
  refused: ['warn', 'refuses us'],
  unanswered: ['open', 'no answer'],
}

/** The lists and the self-test state of each: which work, and why the others do not. */
export function blacklistsDocument({ data, total, list_version }: BlacklistsAnswer, version: string): Document {
  const working = data.filter(({ state }) => state === 'healthy').length
  const others = data.filter(({ state }) => state !== 'healthy')
  return {
    title: 'Blacklists',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: `${total} blacklists`,
          mark: working === total ? 'good' : working * 2 > total ? 'warn' : 'bad',
          badge: `${working} work`,
          words:
            working === total
              ? 'Every list passes its self-test.'
              : `${working} of ${total} lists pass their self-test; the others are not counted.`,
          notes: [],
        },
      },
      { kind: 'grid', grid: { label: 'Self-tests', cells: data.map(cellOf) } },
      ...(others.length === 0
        ? []
        : [
            heading(2, 'Blacklists that are not counted', 'others'),
            {
              kind: 'table',
              table: {
                caption: 'Why they are not counted',
                head: ['List', 'State', 'Why', 'Tested'],
                rows: others.map(({ blacklist, state, reason, tested_at }): Line[] => [
                  [blacklist],
                  [{ mark: STATES[state][0], text: STATES[state][1] }],
                  [reason === null ? '–' : (wordsFor(REASON_WORDS, reason) ?? reason.replaceAll('_', ' '))],
                  [tested_at === null ? '–' : { time: tested_at }],
                ]),
              },
            } as const,
          ]),
      heading(2, 'All blacklists', 'lists'),
      quiet(
        `Tiers: ${Object.entries(TIER_WORDS)
          .map(([tier, words]) => `${tier}, ${words}`)
          .join('; ')}.`,
      ),
      {
        kind: 'table',
        table: {
          caption: 'Zones and tiers',
          head: ['List', 'Zone', 'Tier', 'IPv6', 'Removal'],
          rows: data.map(({ blacklist, zone, tier, ipv6, delist_url }): Line[] => [
            [blacklist],
            [code(zone)],
            [tier],
            [ipv6.supported === 'unknown' ? 'not known' : ipv6.supported],
            [{ link: delist_url, text: hostOf(delist_url), named: true }],
          ]),
        },
      },
    ],
    footer: footerOf(version, undefined, `blacklists ${list_version}`),
  }
}

const cellOf = ({ blacklist, state }: ListStateAnswer): GridCell => ({
  name: blacklist,
  mark: STATES[state][0],
  text: STATES[state][1],
})

/** The host of a page; a text that is not a URL stays unchanged. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : url)
