/** The text that is compiled for a module of the executable: a function, as Node.js makes one of a CommonJS file. */
export const wrapped = (code: string): string => `(function (exports, require, module) {${code}\n})`
