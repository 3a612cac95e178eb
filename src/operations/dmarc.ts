import { dmarcAnswer } from '../answers/questions.ts'
import { dmarc as check, presentDmarcLookup } from '../checks/dmarc/index.ts'
import { presentFinding } from '../checks/present.ts'
import { remembering } from '../checks/repeatable.ts'
import { runInContext } from '../checks/run.ts'
import { dmarcDocument } from '../documents/dmarc.ts'
import { defineOperation, ok } from './operation.ts'
import { domainParam, positional, timeoutParam } from './params.ts'

/** The policy that governs a domain, with each step of the tree walk (RFC 9989 §4.10). */
export const dmarc = defineOperation({
  name: 'dmarc',
  method: 'GET',
  path: '/v1/dmarc',
  summary: 'Show the DMARC policy of a domain (RFC 9989)',
  scope: 'read',
  params: {
    domain: positional(domainParam('domain to look up')),
    timeout: timeoutParam('time limit of the query'),
  },
  answer: dmarcAnswer,
  document: dmarcDocument,
  example: {
    input: { domain: 'example.org' },
    output: {
      domain: 'example.org',
      valid: true,
      record: 'v=DMARC1; p=reject; rua=mailto:dmarc@example.org',
      policy: 'reject',
      inherited: false,
      subdomain_policy: 'reject',
      np: 'reject',
      effective_policy: 'reject',
      testing: false,
      psd: 'u',
      rua: [{ uri: 'mailto:dmarc@example.org', authorized: null }],
      ruf: [],
      found_at: 'example.org',
      organizational_domain: 'example.org',
      exists: true,
      steps: [
        {
          name: '_dmarc.example.org',
          answer: 'found',
          records: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.org'],
          record_count: 1,
          decision: 'record',
        },
      ],
      status: 'pass',
      findings: [],
    },
  },
  uses: [],
  run: async (ctx, _deps, { domain }) => {
    const outcome = await runInContext('dmarc', remembering(ctx), domain)
    return ok({
      ...presentDmarcLookup(outcome),
      domain,
      status: outcome.status,
      ...(outcome.status === 'unknown' ? { reason: outcome.reason.text } : {}),
      findings: outcome.findings.map((found) => presentFinding(check.table, found)),
    })
  },
  verdict: ({ valid, status }) => (valid ? 'good' : status === 'unknown' ? 'unclear' : 'bad'),
})
