type Wake = () => void

let wake: Wake = () => {}

/** The process says how the relay is woken (a Redis publish, fire and forget); without it the relay's own poll finds the work. */
export const onWake = (how: Wake) => {
  wake = how
}

export const wakeRelay = () => wake()
