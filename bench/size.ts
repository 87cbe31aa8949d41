/** `npm run bench -- <name> --quick`: a smaller run, for a look while something else works. */
export const quick = process.argv.includes('--quick')

export const sized = (full: number, small: number): number => (quick ? small : full)
