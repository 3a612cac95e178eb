// The registration list: the export name is the key in every answer and the prefix of its findings.
export { mx } from './mx/index.ts'
