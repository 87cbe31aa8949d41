type Wake = () => void

let wake: Wake = () => {}

/** The process says how the relay is woken (a Redis publish, fire and forget); without it the relay's own poll finds the work. */
export const onWake = (how: Wake) => {
  wake = how
}

let isDue = false

/** Once for all that was committed in one turn of the loop. */
export const wakeRelay = () => {
  if (isDue) return
  isDue = true
  setImmediate(() => {
    isDue = false
    wake()
  })
}
