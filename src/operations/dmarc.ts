import { z } from 'zod'
import { dmarcAnswer } from '../answers/questions.ts'
import { dmarc as check, presentDmarcLookup } from '../checks/dmarc/index.ts'
import { presentFinding } from '../checks/present.ts'
import { runInContext } from '../checks/run.ts'
import { remembering } from './context.ts'
import { defineOperation } from './operation.ts'
import { domainParam, durationParam, TIMEOUT } from './params.ts'

/** The policy that governs a domain, with each step of the tree walk (RFC 9989 §4.10). */
export const dmarc = defineOperation({
  name: 'dmarc',
  method: 'GET',
  path: '/v1/dmarc',
  summary: 'The DMARC policy that governs a domain, step by step (RFC 9989)',
  scope: 'read',
  positional: ['domain'],
  input: z.object({
    domain: domainParam('domain to look at'),
    timeout: durationParam('time for the whole question; default 20s', TIMEOUT).optional(),
  }),
  output: dmarcAnswer,
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
  needs: [],
  deadlineMs: 20_000,
  run: async (ctx, _deps, { domain }) => {
    const outcome = await runInContext('dmarc', remembering(ctx), domain)
    return {
      ...presentDmarcLookup(outcome),
      domain,
      status: outcome.status,
      ...(outcome.status === 'unknown' ? { reason: outcome.reason } : {}),
      findings: outcome.findings.map((found) => presentFinding(check.table, found)),
    }
  },
  verdict: ({ valid, status }) => (valid ? 'good' : status === 'unknown' ? 'unclear' : 'bad'),
})
