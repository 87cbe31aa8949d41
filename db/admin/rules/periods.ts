const lastDay = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** First day of the billing period after the one that begins on `start`: the anchor day of the next month, or its last day. */
export const periodEnd = (start: string, anchorDay: number): string => {
  const [year = 0, month = 0] = start.split('-').map(Number)
  const nextYear = month === 12 ? year + 1 : year
  const nextMonth = month === 12 ? 1 : month + 1
  const day = Math.min(anchorDay, lastDay(nextYear, nextMonth))
  return `${nextYear}-${String(nextMonth).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
