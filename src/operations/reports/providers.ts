import { wholeList } from '../../answers/answer.ts'
import { type ReportProvider, reportsProvidersAnswer } from '../../answers/reports.ts'
import { csvLine } from '../../base/csv.ts'
import { printable } from '../../base/text.ts'
import { reportsProvidersDocument } from '../../documents/reports.ts'
import type { AcrossSender } from '../../reports/across.ts'
import { presentLeftOut } from '../../reports/present.ts'
import { defineOperation, ok, type TextStream } from '../operation.ts'
import { choiceParam } from '../params.ts'
import { providersExample } from './examples.ts'
import { daysOf, daysParams, seesDomain } from './shared.ts'

/** Domains of a row, and rows of an answer. */
const SHOWN_DOMAINS = 50
const SHOWN = 200

/** Who sends for several domains of the caller: a row for each provider, with the domains for which its mail fails. */
export const reportsProviders = defineOperation({
  name: 'reports providers',
  method: 'GET',
  path: '/v1/reports/providers',
  summary: 'List who sends for more than one of your domains, and where that mail still fails',
  scope: 'reports',
  streams: ['csv'],
  params: {
    ...daysParams,
    senders: choiceParam(['several', 'all'], 'several', {
      description: 'several: those that send for more than one domain; all: also those of one domain',
    }),
    format: choiceParam(['json', 'html', 'markdown', 'csv'], 'json', {
      description: 'csv: a line for each provider and domain, all of them',
    }),
    csv: choiceParam(['plain', 'spreadsheet'], 'plain', {
      description: 'spreadsheet: prefix cells that would be formulas with an apostrophe',
    }),
  },
  answer: reportsProvidersAnswer,
  document: reportsProvidersDocument,
  example: { input: {}, output: providersExample },
  uses: ['reports'],
  run: async (ctx, { reports }, { senders: which, format, csv, ...input }) => {
    const days = daysOf(ctx, input)
    const sees = (domain: Parameters<typeof seesDomain>[1]): boolean => seesDomain(ctx.caller, domain)
    const { senders, messages, domains, leftOut } = await (await reports()).across(ctx, days, sees)
    const shown = which === 'all' ? senders : senders.filter((one) => one.domains.length > 1)
    if (format === 'csv') return { status: 200, stream: csvOf(shown, csv) }
    const named = shown.reduce((sum, one) => sum + one.messages, 0)
    return ok({
      ...{ from: days.from, to: days.to, domains, messages, other_messages: messages - named },
      ...wholeList(shown.slice(0, SHOWN).map(present)),
      has_more: shown.length > SHOWN,
      ...presentLeftOut(leftOut),
    })
  },
})

const present = ({ id, name, messages, passing, domains }: AcrossSender): ReportProvider => ({
  ...{ id, name: printable(name), domains: domains.length },
  failing_domains: domains.filter((one) => one.passing < one.messages).length,
  ...{ messages, passing, failing: messages - passing, at: domains.slice(0, SHOWN_DOMAINS) },
  ...(domains.length > SHOWN_DOMAINS && { at_left_out: domains.length - SHOWN_DOMAINS }),
})

function csvOf(senders: readonly AcrossSender[], style: 'plain' | 'spreadsheet'): TextStream {
  const line = csvLine(',', style)
  async function* text(): AsyncIterable<string> {
    yield line(['provider', 'domain', 'messages', 'passing', 'failing', 'verdict'])
    for (const { name, domains } of senders)
      yield domains
        .map((one) => {
          const counts = [one.messages, one.passing, one.messages - one.passing].map(String)
          return line([printable(name), one.domain, ...counts, one.verdict])
        })
        .join('')
  }
  return { contentType: 'text/csv; charset=utf-8', text: text() }
}
