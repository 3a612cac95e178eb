import check from './examples/check.json' with { type: 'json' }
import plan from './examples/plan.json' with { type: 'json' }
import report from './examples/report.json' with { type: 'json' }
import verify from './examples/verify.json' with { type: 'json' }
import whatIf from './examples/what-if.json' with { type: 'json' }

/**
 * Real answers of the test network (`npm run examples` records them again); tests validate them against the schemas.
 */
export const checkExample = { input: { domain: 'neglected.test' }, output: check }
export const planExample = { input: { domain: 'neglected.test' }, output: plan }
export const reportExample = { input: { domain: 'accept.test' }, output: report }
export const verifyExample = {
  input: { email: 'user@accept.test', role: 'true', free: 'true', suggestion: 'true' },
  output: verify,
}
export const whatIfExample = {
  input: {
    domain: 'neglected.test',
    records: [{ name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:dmarc@neglected.test' }],
  },
  output: whatIf,
}
