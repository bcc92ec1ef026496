// argo-health HEALTH.lua OBJECT.json prints the health that Argo CD would give an object, as JSON.
//
// Argo CD gives scripts from its configuration only the base, package and table libraries and the clock of os, and a
// second of time: a script that calls string.find works in Argo's own tests and fails in use.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

var statuses = []string{"Unknown", "Progressing", "Suspended", "Healthy", "Degraded", "Missing"}

func main() {
	if len(os.Args) != 3 {
		stop(fmt.Errorf("usage: argo-health HEALTH.lua OBJECT.json"))
	}
	script, err := os.ReadFile(os.Args[1])
	stop(err)
	text, err := os.ReadFile(os.Args[2])
	stop(err)
	var object map[string]any
	stop(json.Unmarshal(text, &object))
	found, err := healthOf(object, string(script))
	stop(err)
	stop(json.NewEncoder(os.Stdout).Encode(found))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func healthOf(object map[string]any, script string) (health, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state := newState(ctx)
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return health{}, fmt.Errorf("the script gave no table but %s", state.Get(-1).Type())
	}
	status, message := table.RawGetString("status").String(), table.RawGetString("message").String()
	if !slices.Contains(statuses, status) {
		return health{}, fmt.Errorf("%q is no health status", status)
	}
	return health{status, message}, nil
}

func newState(ctx context.Context) *lua.LState {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	libraries := map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
		lua.OsLibName:   lua.OpenOs,
	}
	for name, open := range libraries {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	if system, ok := state.GetGlobal(lua.OsLibName).(*lua.LTable); ok {
		for _, name := range []string{"execute", "exit", "getenv", "remove", "rename", "setenv", "setlocale", "tmpname"} {
			system.RawSetString(name, lua.LNil)
		}
	}
	state.SetContext(ctx)
	return state
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		list := state.NewTable()
		for _, element := range typed {
			list.Append(toLua(state, element))
		}
		return list
	case map[string]any:
		table := state.NewTable()
		for key, element := range typed {
			table.RawSetString(key, toLua(state, element))
		}
		return table
	}
	return lua.LNil
}
