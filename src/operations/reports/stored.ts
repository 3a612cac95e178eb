import { invalidAt } from '../../base/errors.ts'
import { parseDomain } from '../../names/domain.ts'
import type { ReportService } from '../../reports/service.ts'
import type { Call } from '../operation.ts'
import { refuseOthers } from './shared.ts'

/** The number of stored reports about a domain: for pages that show them while they come in. */
export type StoredReports = (by: Pick<Call, 'caller'>, domain: string) => Promise<number>

/** It throws AppError for a text that is no domain, and if the key is not made for it. */
export const storedReports =
  ({ reports }: { readonly reports: () => Promise<Pick<ReportService, 'stored'>> }): StoredReports =>
  async (by, text) => {
    const domain = parseDomain(text)
    if (!domain.ok) throw invalidAt('invalid_domain', 'domain', domain.problem)
    refuseOthers(by, domain.value)
    return (await reports()).stored(domain.value)
  }
