/** A length of time as people say it: `45 s`, `12 min`, `3 h 20 min`, `5 d`. */
export const lasting = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 120) return `${minutes} min`
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${Math.round(minutes / 1_440)} d`
}
