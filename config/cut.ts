/** The first characters of a text, so many at most. One that would be cut in two, such as an emoji, is left out: half of it is no text that can be stored. */
export const cut = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
