// Types into the search, moves by the arrow keys, opens an object, clears, and asks for
// what is wrong only; says what it saw where the tool's name was.
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const marks = () => document.querySelectorAll("#picture [data-node]").length;
const seen = [];
press("/");
seen.push(document.activeElement.id);
const query = document.getElementById("query");
query.value = "_C7.cpython";
query.dispatchEvent(new Event("input"));
setTimeout(() => {
  seen.push(marks());
  press("ArrowDown");
  press("ArrowDown");
  seen.push(document.activeElement.getAttribute("class"));
  press("Enter");
  seen.push(document.querySelectorAll("#details h3").length > 0);
  seen.push(document.activeElement.hasAttribute("data-node"));
  press("Escape");
  seen.push(marks(), document.querySelectorAll("#details *").length);
  document.getElementById("trouble").click();
  seen.push(marks());
  document.getElementById("tool").textContent = JSON.stringify(seen);
}, 500);
