type Need = {
  onHand: number
  onOrder: number
  minimum: number
  maximum: number
  expectedUse: number
  /** The content of a package to buy; null for goods bought loose. */
  package: number | null
}

/**
 * The quantity to buy so that the minimum is there after the expected use, in ten-thousandths and whole packages: up to the maximum, or to the minimum and the
 * use where that is more. Null where nothing is needed.
 */
export const suggestionOf = (need: Need): { quantity: number; count: number | null } | null => {
  const there = need.onHand + need.onOrder
  if (there - need.expectedUse >= need.minimum) return null
  const wanted = Math.max(need.maximum, need.minimum + need.expectedUse) - there
  if (need.package === null) return { quantity: wanted, count: null }
  const count = Math.ceil(wanted / need.package)
  return { quantity: count * need.package, count }
}
