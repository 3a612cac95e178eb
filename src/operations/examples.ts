import blacklist from './examples/blacklist.json' with { type: 'json' }
import check from './examples/check.json' with { type: 'json' }
import report from './examples/report.json' with { type: 'json' }
import verify from './examples/verify.json' with { type: 'json' }

/** Real answers of the mini internet (`npm run examples` records them anew); tests hold them against the schemas. */
export const checkExample = { input: { domain: 'example.org' }, output: check }
export const blacklistExample = { input: { ip: '192.0.2.1' }, output: blacklist }
export const reportExample = { input: { domain: 'example.org' }, output: report }
export const verifyExample = { input: { email: 'joe@example.org' }, output: verify }
