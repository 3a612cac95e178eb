/**
 * What the tests use of HashiCorp's HCL parser; its own types bring those of browsers with them (tsconfig.json
 * `paths`). The JSON form of a file; throws where the text is no HCL.
 */
export declare function parse(name: string, text: string): Promise<unknown>
