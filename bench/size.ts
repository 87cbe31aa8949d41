/** `npm run bench -- <name> --quick`: a smaller run, for a look while something else works. */
export const quick = process.argv.includes('--quick')

export const sized = (full: number, small: number): number => (quick ? small : full)

const wanted = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length)

/** `npm run bench -- <name> --only=<part>`: one part of a measurement that has several, of its whole size, for a look. */
export const isPart = wanted !== undefined

/** Tells whether a part of a measurement is asked for: each is, unless one is named. */
export const asked = (part: string): boolean => wanted === undefined || wanted === part
