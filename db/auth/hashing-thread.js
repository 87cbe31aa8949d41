import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'

// JavaScript, since a thread is started without the loaders of its process. See threads.ts for what passes.

const lowest = 19

// Linux keeps a priority per thread: this one takes what the requests leave. Elsewhere there is no such link, and nothing to lower.
const ownThread = () => {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return null
  }
}

const thread = ownThread()
if (thread !== null) setPriority(thread, lowest)

const work = ({ text, against, parameters }) =>
  against === null ? hashSync(text, parameters) : verifySync(against, text)

const never = new Int32Array(new SharedArrayBuffer(4))

// After each it rests for as long as it took: a flood of sign-ins is let in no faster than the requests of others can bear.
const rest = (since) => void Atomics.wait(never, 0, 0, performance.now() - since)

parentPort?.on('message', ({ id, ...task }) => {
  const since = performance.now()
  try {
    parentPort?.postMessage({ id, result: work(task) })
  } catch (error) {
    parentPort?.postMessage({ id, problem: String(error) })
  }
  rest(since)
})
