import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'

type Named = { readonly domain: string }

/** Why a report that was read is not taken, and why an import has to be repeated. */
export const importError = errorsOf('report_import', {
  forbidden: {
    code: 'forbidden',
    detail: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)`,
  },
  unknown_domain: {
    code: 'bad_report',
    detail: ({ domain }: Named) =>
      `nobody here takes reports about ${quoted(domain)}: name it in --reports-domains, or make a monitor or a key for it`,
  },
  too_old: {
    code: 'bad_report',
    detail: ({ day, oldest }: { day: string; oldest: string }) =>
      `the report is about ${shown(day, 20)}; reports are kept from ${shown(oldest, 20)} on (--reports-keep)`,
  },
  unanswered: {
    code: 'upstream_unavailable',
    detail: () => 'the DNS does not answer, so that the signature of the message cannot be verified now: try again',
  },
})
