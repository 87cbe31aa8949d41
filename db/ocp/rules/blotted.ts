/** Stands in what is kept of a message for each code and link. */
export const blot = '•••'

/** Tells whether a text is the one that is kept with its codes and links blotted out. */
export const fitsBlotted = (kept: string, text: string): boolean => {
  const [first = '', ...rest] = kept.split(blot)
  const last = rest.pop()
  if (last === undefined) return text === kept
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
