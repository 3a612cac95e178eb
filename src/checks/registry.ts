// The registration list: the export name is the key in every answer and the prefix of its findings.
export { dkim } from './dkim/index.ts'
export { dmarc } from './dmarc/index.ts'
export { mx } from './mx/index.ts'
export { ptr } from './ptr/index.ts'
export { spf } from './spf/index.ts'
export { tlsRpt as tls_rpt } from './tls-rpt/index.ts'
