// Replaces Node's assert for undici, which checks answers with it. For the message of a failed check Node would parse
// the bundle's only line: a second of processor for each answer of a faulty service.

module.exports = function assert(value, message = "A check of undici failed.") {
  if (!value)
    throw message instanceof Error ? message : Object.assign(new Error(message), { code: "ERR_ASSERTION" });
};
