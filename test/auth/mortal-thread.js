import { parentPort, threadId } from 'node:worker_threads'

// Stands for a thread that hashes: one that a task can kill, and that says which it is.
parentPort?.on('message', ({ id, text }) => {
  if (text === 'dies') process.exit(1)
  parentPort?.postMessage({ id, result: text === 'which' ? threadId : 'done' })
})
