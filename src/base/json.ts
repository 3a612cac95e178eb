/** A value that JSON can carry; a key whose value is undefined is left out. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }
