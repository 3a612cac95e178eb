import { reportsImportAnswer } from '../../answers/reports.ts'
import { AppError } from '../../base/errors.ts'
import { reportsImportDocument } from '../../documents/reports.ts'
import { ownerOf } from '../../names/owner.ts'
import type { Imported } from '../../reports/import.ts'
import { presentImport } from '../../reports/present.ts'
import { reportError } from '../../reports/problems.ts'
import { defineOperation, ok } from '../operation.ts'
import { reportsError } from '../problems.ts'
import { importExample } from './examples.ts'
import { seesDomain } from './shared.ts'

const UPLOAD_MS = 15 * 60_000

/** Stores the reports in a message, an archive or a file. */
export const reportsImport = defineOperation({
  name: 'reports import',
  method: 'POST',
  path: '/v1/reports',
  summary: 'Store DMARC aggregate reports and TLS reports',
  scope: 'reports',
  uploads: 'report',
  params: {},
  answer: reportsImportAnswer,
  document: reportsImportDocument,
  example: { input: {}, output: importExample },
  deadlineMs: UPLOAD_MS,
  uses: ['reports'],
  run: async (ctx, { reports }) => {
    if (!ctx.upload) throw reportsError('no_body')
    const { import: importOctets } = await reports()
    const imported = await importOctets(ctx.upload.octets, {
      ...{ name: 'body', way: 'file', signal: ctx.signal, owner: ownerOf(ctx).id },
      accepts: (domain) => (seesDomain(ctx.caller, domain) ? 'taken' : 'forbidden'),
    })
    refuseUnread(imported)
    return ok(presentImport(imported))
  },
})

/**
 * An input in which nothing could be read is refused as a whole; a report that was read and is not taken is an answer.
 */
function refuseUnread({ reports, refused, failureReports, otherIs }: Imported): void {
  const isUnread = (code: string): boolean => code === 'bad_report' || code === 'payload_too_large'
  if (reports.length > 0 || failureReports > 0 || refused.some(({ code }) => !isUnread(code))) return
  const [first] = refused
  if (!first) throw otherIs ? new AppError('bad_report', otherIs) : reportError('none')
  throw new AppError(first.code === 'payload_too_large' ? 'payload_too_large' : 'bad_report', first.problem)
}
